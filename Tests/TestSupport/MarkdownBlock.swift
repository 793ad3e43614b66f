package import Foundation

/// A fenced block of code in a page of ours.
package struct MarkdownBlock: Sendable {
    package let language: String
    package let text: String

    /// The repository that the tests were built from.
    package static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every block of a page, without the indentation that its first line has.
    /// - Parameter page: its path in the repository.
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
