import SystemPackage

/// A file of lines, of any size, read from its beginning to its end.
package enum LineFile {
    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - take: called with each line, its number from 1 on, and whether its end was there.
    package static func read(
        _ path: String, _ take: (Int, ArraySlice<UInt8>, _ isFinished: Bool) throws(LineFileFault) -> Void
    ) throws(LineFileFault) {
        let file: FileDescriptor
        do {
            file =
                try path == "-"
                ? .standardInput : FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
        } catch {
            throw LineFileFault("\(error)")
        }
        defer { if path != "-" { try? file.close() } }
        var rest: [UInt8] = []
        var number = 0
        var chunk = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count: Int
            do { count = try unsafe chunk.withUnsafeMutableBytes { try unsafe file.read(into: $0) } } catch {
                throw LineFileFault("\(error)")
            }
            guard count > 0 else { break }
            rest += chunk.prefix(count)
            var begin = 0
            while let end = rest[begin...].firstIndex(of: UInt8(ascii: "\n")) {
                number += 1
                try take(number, rest[begin..<end], true)
                begin = end + 1
            }
            rest.removeFirst(begin)
            guard rest.count <= maximumLineSize else { throw LineFileFault("line \(number + 1) is too long") }
        }
        if !rest.isEmpty { try take(number + 1, rest[...], false) }
    }

    /// In bytes.
    private static let maximumLineSize = 1024 * 1024
}

/// Why a file could not be read to its end.
package struct LineFileFault: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
