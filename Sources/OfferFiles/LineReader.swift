import SystemPackage

/// A reader that returns the lines of a file one by one, for callers that wait between lines.
package final class LineReader {
    private let file: FileDescriptor
    private let maximumSize: Int
    private var rest: ArraySlice<UInt8> = []
    private var number = 0

    /// - Parameters:
    ///   - path: the path of the file; `-` for standard input.
    ///   - maximumSize: the maximum size of a line, in bytes.
    package init(path: String, maximumSize: Int) throws(LineFileError) {
        self.maximumSize = maximumSize
        do {
            file =
                try path == "-"
                ? .standardInput : FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
        } catch {
            throw LineFileError("\(error)")
        }
    }

    deinit { if file != .standardInput { try? file.close() } }

    /// Reads the next line, without its line feed.
    /// - Returns: nil at the end of the file.
    package func next() throws(LineFileError) -> [UInt8]? {
        number += 1
        var searched = rest.startIndex
        while true {
            if let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = rest[(end + 1)...] }
                return Array(rest[..<end])
            }
            guard rest.count <= maximumSize else { throw LineFileError("line \(number) is too long") }
            searched = rest.endIndex
            guard try readMore() else {
                defer { rest = [] }
                return rest.isEmpty ? nil : Array(rest)
            }
        }
    }

    /// - Returns: false at the end of the file.
    private func readMore() throws(LineFileError) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 256 * 1024)
        do {
            let count = try unsafe chunk.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
            rest += chunk.prefix(count)
            return count > 0
        } catch {
            throw LineFileError("\(error)")
        }
    }
}
