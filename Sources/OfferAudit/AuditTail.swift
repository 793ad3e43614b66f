import OfferCore
import SystemPackage

/// The end of an audit trail file.
struct AuditTail {
    enum Content {
        /// The file is empty.
        case nothing
        /// The first line is unfinished.
        case unfinished
        case line(AuditLine)
        /// The last line is not an audit line.
        case somethingElse
    }

    let content: Content
    /// The offset after the last complete line. Anything beyond is an unfinished line.
    let end: Int64

    /// The maximum number of bytes searched for a line. Lines are far shorter, but a power failure may leave many zero
    /// bytes.
    private static let maximumSize: Int64 = 4 * 1024 * 1024
    private static let lineFeed = UInt8(ascii: "\n")

    /// - Parameter size: the size of the file in bytes.
    init(_ file: FileDescriptor, size: Int64) throws {
        guard size > 0 else {
            (content, end) = (.nothing, 0)
            return
        }
        // A small read is enough for most files.
        for count in [min(size, 16 * 1024), min(size, Self.maximumSize)] {
            let tail = try Self.read(file, from: size - count, count: Int(count))
            guard let lastEnd = tail.lastIndex(of: Self.lineFeed) else { continue }
            let begin = tail[..<lastEnd].lastIndex(of: Self.lineFeed).map { $0 + 1 } ?? 0
            if begin == 0, count < size { continue }
            content = AuditLine(tail[begin..<lastEnd]).map(Content.line) ?? .somethingElse
            end = size - Int64(tail.count - lastEnd - 1)
            return
        }
        let head = try Self.read(file, from: 0, count: Int(min(size, 8)))
        content = Array(#"{"line":"#.utf8).starts(with: head) ? .unfinished : .somethingElse
        end = 0
    }

    /// The chain after the last line; nil if the file does not end with an audit line.
    var chain: AuditChain? { if case .line(let line) = content { line.chain } else { nil } }

    /// Reads the first line of a file; nil if it is not an audit line.
    static func firstLine(of file: FileDescriptor) throws -> AuditLine? {
        let head = try read(file, from: 0, count: 16 * 1024)
        return head.firstIndex(of: lineFeed).flatMap { AuditLine(head[..<$0]) }
    }

    private static func read(_ file: FileDescriptor, from offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = try unsafe bytes.withUnsafeMutableBytes { buffer in
                try unsafe file.read(
                    fromAbsoluteOffset: offset + Int64(done),
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            }
            guard read > 0 else { break }
            done += read
        }
        return Array(bytes.prefix(done))
    }
}
