import Foundation

/// A documentation page, split into the parts that tests check.
package struct MarkdownPage: Sendable {
    /// The path relative to the repository root.
    package let path: String
    package let text: String

    package init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: MarkdownBlock.repository.appending(path: path), encoding: .utf8)
    }

    /// Reads every page in the repository.
    package static func all() throws -> [MarkdownPage] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: MarkdownBlock.repository.path)
        return try paths.filter { $0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted().map(MarkdownPage.init)
    }

    /// The text outside code blocks.
    package var prose: String {
        text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined()
    }

    /// The contents of all inline code spans.
    package var codeSpans: [String] { prose.matches(of: /`([^`\n]+)`/).map { String($0.output.1) } }

    /// The targets of all links.
    package var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) } }

    /// The cells of all table rows.
    package var rows: [[String]] {
        prose.split(separator: "\n").filter { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The anchors of all headings, without the `#`.
    package var anchors: Set<String> {
        Set(
            prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
                    .replacing(" ", with: "-")
            })
    }
}
