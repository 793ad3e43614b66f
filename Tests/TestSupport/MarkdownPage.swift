import Foundation

/// A documentation page, with the parts that tests check.
package struct MarkdownPage: Sendable {
    /// The path in the repository.
    package let path: String
    package let text: String

    package init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: MarkdownBlock.repository.appending(path: path), encoding: .utf8)
    }

    /// Reads all pages of the repository.
    package static func all() throws -> [MarkdownPage] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: MarkdownBlock.repository.path)
        return try paths.filter { $0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted().map(MarkdownPage.init)
    }

    /// The text without code blocks.
    package var prose: String {
        text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined()
    }

    /// The texts in `backticks`, outside code blocks.
    package var codeSpans: [String] { prose.matches(of: /`([^`\n]+)`/).map { String($0.output.1) } }

    /// The targets of its links.
    package var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) } }

    /// The cells of all table rows.
    package var rows: [[String]] {
        prose.split(separator: "\n").filter { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The anchors of its headings, without the `#`.
    package var anchors: Set<String> {
        Set(
            prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
                    .replacing(" ", with: "-")
            })
    }
}
