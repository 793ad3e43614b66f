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
        /// The last line, finished or not, is longer than ``AuditTail/maximumSize``. It is not known what is before it.
        case tooLong
    }

    let content: Content
    /// The offset after the last complete line; the size of the file if that line was not found. Anything beyond is an
    /// unfinished line.
    let end: Int64

    /// The maximum number of bytes searched for a line. Lines are far shorter, but a power failure may leave many zero
    /// bytes.
    static let maximumSize: Int64 = 4 * 1024 * 1024
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
        guard size <= Self.maximumSize else {
            (content, end) = (.tooLong, size)
            return
        }
        let head = try Self.read(file, from: 0, count: Int(min(size, 8)))
        content = Array(#"{"line":"#.utf8).starts(with: head) ? .unfinished : .somethingElse
        end = 0
    }

    /// The chain after the last line; nil if the file does not end with an audit line.
    var chain: AuditChain? { if case .line(let line) = content { line.chain } else { nil } }

    /// Whether the file is an audit trail, or could become one.
    var isTrail: Bool {
        switch content {
        case .nothing, .unfinished, .line: true
        case .somethingElse, .tooLong: false
        }
    }

    /// Reads the first line of a file; nil if it is not an audit line.
    static func firstLine(of file: FileDescriptor) throws -> AuditLine? {
        let head = try read(file, from: 0, count: 16 * 1024)
        return head.firstIndex(of: lineFeed).flatMap { AuditLine(head[..<$0]) }
    }

    /// The number of the first line that has the form of an audit line; nil if there is none in the first 256 KiB.
    static func firstNumber(in file: FileDescriptor) throws -> UInt64? {
        try read(file, from: 0, count: Int(chunkSize)).split(separator: lineFeed).lazy.compactMap {
            AuditLine($0)?.number
        }.first
    }

    /// Whether a line with this hash ends at the offset.
    static func holds(_ hash: [UInt8], endingAt end: Int64, in file: FileDescriptor) throws -> Bool {
        let ending = AuditSeal.ending(with: hash)
        guard end >= ending.count else { return false }
        return try read(file, from: end - Int64(ending.count), count: ending.count) == ending
    }

    /// Calls `body` for each complete line between two offsets, with its text without the line feed.
    /// - Returns: the offset after the last complete line.
    static func forEachLine(
        of file: FileDescriptor, from begin: Int64, to end: Int64, _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws -> Int64 {
        var (offset, rest) = (begin, [UInt8]())
        while offset + Int64(rest.count) < end {
            let next = offset + Int64(rest.count)
            let chunk = try read(file, from: next, count: Int(min(end - next, chunkSize)))
            guard !chunk.isEmpty else { break }
            rest += chunk
            var first = 0
            while let last = rest[first...].firstIndex(of: lineFeed) {
                try body(rest[first..<last])
                first = last + 1
            }
            rest.removeFirst(first)
            offset += Int64(first)
            guard rest.count <= maximumSize else {
                throw AuditFault("the audit trail contains a line that is too long", isSetup: true)
            }
        }
        return offset
    }

    /// Finds the last line near the end of a file that marks a break which no one has acknowledged.
    /// - Parameters:
    ///   - end: the offset after the last complete line.
    ///   - needsKey: whether only a line with an HMAC can acknowledge a break.
    /// - Returns: the number of that line; nil if there is none.
    static func openBreak(in file: FileDescriptor, end: Int64, needsKey: Bool = false) throws -> UInt64? {
        var number: UInt64?
        _ = try forEachLine(of: file, from: max(0, end - searchedSize), to: end) { text in
            switch AuditLine.event(in: text) {
            case .broken: number = AuditLine(text)?.number ?? number
            case .breakAcknowledged where !needsKey || AuditLine(text)?.isKeyed == true: number = nil
            default: break
            }
        }
        return number
    }

    /// The number of bytes searched for a break.
    private static let searchedSize: Int64 = 16 * 1024 * 1024
    private static let chunkSize: Int64 = 256 * 1024

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
