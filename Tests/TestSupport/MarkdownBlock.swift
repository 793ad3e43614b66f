package import Foundation

/// A fenced code block of a documentation page.
package struct MarkdownBlock: Sendable {
    package let language: String
    package let text: String

    /// The root of the repository.
    package static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Reads all blocks of a page, without the indentation of each block's first line.
    /// - Parameter page: the path of the page in the repository.
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
