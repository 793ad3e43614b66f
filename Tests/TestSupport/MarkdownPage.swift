import Foundation

/// A page of ours, as far as tests hold it to something.
package struct MarkdownPage: Sendable {
    /// Its path in the repository.
    package let path: String
    package let text: String

    package init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: MarkdownBlock.repository.appending(path: path), encoding: .utf8)
    }

    /// Every page of the tree.
    package static func all() throws -> [MarkdownPage] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: MarkdownBlock.repository.path)
        return try paths.filter { $0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted().map(MarkdownPage.init)
    }

    /// Without the blocks of code.
    package var prose: String {
        text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined()
    }

    /// What stands in `backticks`, outside of blocks.
    package var codeSpans: [String] { prose.matches(of: /`([^`\n]+)`/).map { String($0.output.1) } }

    /// Where its links go.
    package var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) } }

    /// The cells of each row of its tables.
    package var rows: [[String]] {
        prose.split(separator: "\n").filter { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// What a link to a heading of it ends with, behind the `#`.
    package var anchors: Set<String> {
        Set(
            prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
                    .replacing(" ", with: "-")
            })
    }
}
