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
        /// The last line, finished or not, is longer than ``AuditTail/maximumSize``. The content before it is unknown.
        case tooLong
    }

    let content: Content
    /// The offset after the last complete line; 0 if there is none, or the size of the file if its last line is too
    /// long. Anything beyond this offset is an unfinished line.
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

    /// True if the file is an audit trail, or could become one.
    var isTrail: Bool {
        switch content {
        case .nothing, .unfinished, .line: true
        case .somethingElse, .tooLong: false
        }
    }

    /// Reads the first line of a file. Returns nil if it is not an audit line.
    static func firstLine(of file: FileDescriptor) throws -> AuditLine? {
        let head = try read(file, from: 0, count: 16 * 1024)
        return head.firstIndex(of: lineFeed).flatMap { AuditLine(head[..<$0]) }
    }

    /// Returns the number of the first line that has the form of an audit line; nil if there is none in the first 256
    /// KiB.
    static func firstNumber(in file: FileDescriptor) throws -> UInt64? {
        try read(file, from: 0, count: Int(chunkSize)).split(separator: lineFeed).lazy.compactMap {
            AuditLine($0)?.number
        }.first
    }

    /// Calls `body` for each complete line between two offsets, passing its text without the line feed and the offset
    /// after the line.
    /// - Returns: the offset after the last complete line. Reading stops at a line that is longer than ``maximumSize``.
    static func forEachLine(
        of file: FileDescriptor, from begin: Int64, to end: Int64,
        _ body: (_ text: ArraySlice<UInt8>, _ end: Int64) throws -> Void
    ) throws -> Int64 {
        var (offset, rest) = (begin, [UInt8]())
        while offset + Int64(rest.count) < end {
            let next = offset + Int64(rest.count)
            let chunk = try read(file, from: next, count: Int(min(end - next, chunkSize)))
            guard !chunk.isEmpty else { break }
            // The bytes left from earlier chunks contain no line feed.
            var (first, searched) = (0, rest.count)
            rest += chunk
            while let last = rest[searched...].firstIndex(of: lineFeed) {
                try body(rest[first..<last], offset + Int64(last) + 1)
                first = last + 1
                searched = first
            }
            rest.removeFirst(first)
            offset += Int64(first)
            guard rest.count <= maximumSize else { break }
        }
        return offset
    }

    /// Finds the line in which another process marked a break after a known line.
    /// - Returns: the offset at which that line begins; nil if there is no such line.
    static func mark(after known: AuditChain, in file: FileDescriptor, size: Int64, rules: AuditRules) throws -> Int64?
    {
        var mark: Int64?
        _ = try forEachLine(of: file, from: max(0, size - searchedSize), to: size) { text, end in
            guard mark == nil, AuditLine.event(in: text) == .broken, let line = AuditLine(text),
                line.lastBeforeBreak == known.hash, try rules.isNext(line, after: known)
            else { return }
            mark = end - Int64(text.count) - 1
        }
        return mark
    }

    /// The number of bytes at the end of a file that are searched for breaks.
    static let searchedSize: Int64 = 16 * 1024 * 1024
    private static let chunkSize: Int64 = 256 * 1024

    static func read(_ file: FileDescriptor, from offset: Int64, count: Int) throws -> [UInt8] {
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
        return done == count ? bytes : Array(bytes.prefix(done))
    }
}
