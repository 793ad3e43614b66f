import SystemPackage

/// A line-by-line reader of files of any size.
package enum LineFile {
    /// Calls `body` for each line.
    /// - Parameters:
    ///   - path: the path of the file; `-` for standard input.
    ///   - body: called with the line number (starting at 1), the line, and true if the line ended with a line feed.
    package static func read(
        _ path: String, _ body: (Int, ArraySlice<UInt8>, _ isFinished: Bool) throws(LineFileError) -> Void
    ) throws(LineFileError) {
        let file: FileDescriptor
        do {
            file =
                try path == "-"
                ? .standardInput : FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
        } catch {
            throw LineFileError("\(error)")
        }
        defer { if path != "-" { try? file.close() } }
        var rest: [UInt8] = []
        var number = 0
        var chunk = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count: Int
            do { count = try unsafe chunk.withUnsafeMutableBytes { try unsafe file.read(into: $0) } } catch {
                throw LineFileError("\(error)")
            }
            guard count > 0 else { break }
            rest += chunk.prefix(count)
            var begin = 0
            while let end = rest[begin...].firstIndex(of: UInt8(ascii: "\n")) {
                number += 1
                try body(number, rest[begin..<end], true)
                begin = end + 1
            }
            rest.removeFirst(begin)
            guard rest.count <= maximumLineSize else { throw LineFileError("line \(number + 1) is too long") }
        }
        if !rest.isEmpty { try body(number + 1, rest[...], false) }
    }

    /// The maximum size of a line, in bytes.
    private static let maximumLineSize = 1024 * 1024
}

/// The reason that a file could not be read to the end.
package struct LineFileError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
