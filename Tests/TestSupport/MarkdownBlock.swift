package import Foundation

/// A fenced code block in a documentation page.
package struct MarkdownBlock: Sendable {
    package let language: String
    package let text: String

    /// The repository root.
    package static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Reads a page's code blocks. Each block loses the indentation of its first line.
    /// - Parameter page: the page's path, relative to the repository root.
    package static func all(in page: String) throws -> [MarkdownBlock] {
        let page = try String(contentsOf: repository.appending(path: page), encoding: .utf8)
        return page.split(separator: "```", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }
            .map { _, block in
                let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
                let indentation = (lines.dropFirst().first ?? "").prefix { $0 == " " }.count
                return MarkdownBlock(
                    language: String(lines[0]),
                    text: lines.dropFirst().map { line in
                        String(line.dropFirst(min(indentation, line.prefix { $0 == " " }.count)))
                    }.joined(separator: "\n"))
            }
    }
}
