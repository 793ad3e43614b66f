import NIOCore

/// The part of a chunked body (RFC 9112 section 7.1) that has arrived so far.
struct ChunkedBody {
    private enum Part {
        case size
        case data(remaining: Int)
        case lineEndOfData
        case trailers
    }

    private let maximumSize: Int
    private(set) var bytes: [UInt8] = []
    private var part = Part.size
    private var trailersSize = 0

    /// The size limits in bytes, for each chunk-size or trailer line and for all trailers combined.
    private static let maximumLineSize = 256
    private static let maximumTrailersSize = 4096

    /// - Parameter maximumSize: the maximum size of the whole body, in bytes.
    init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// Consumes as much of `buffer` as possible.
    /// - Returns: true if the body is complete.
    mutating func read(_ buffer: inout ByteBuffer) throws(RequestFault) -> Bool {
        while true {
            switch part {
            case .size:
                guard let line = try Self.line(&buffer) else { return false }
                let size = try Self.size(line)
                guard bytes.count + size <= maximumSize else { throw .bodyTooLarge }
                part = size > 0 ? .data(remaining: size) : .trailers
            case .data(let remaining):
                guard let data = buffer.readBytes(length: min(remaining, buffer.readableBytes)), !data.isEmpty else {
                    return false
                }
                bytes += data
                part = data.count == remaining ? .lineEndOfData : .data(remaining: remaining - data.count)
            case .lineEndOfData:
                guard let line = try Self.line(&buffer) else { return false }
                guard line.isEmpty else { throw .malformed }
                part = .size
            case .trailers:
                // Trailers are checked and discarded.
                guard let line = try Self.line(&buffer) else { return false }
                if line.isEmpty { return true }
                trailersSize += line.count
                let name = line.prefix { $0 != UInt8(ascii: ":") }
                guard trailersSize <= Self.maximumTrailersSize, !name.isEmpty, name.count < line.count,
                    name.allSatisfy(RequestHead.isTokenCharacter)
                else { throw .malformed }
            }
        }
    }

    private static func isExtension(_ text: ArraySlice<UInt8>) -> Bool {
        let pair = text.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        return pair.count <= 2 && pair.allSatisfy { !$0.isEmpty && $0.allSatisfy(RequestHead.isTokenCharacter) }
    }

    /// - Returns: a line without its line end; nil if it is not complete yet.
    private static func line(_ buffer: inout ByteBuffer) throws(RequestFault) -> [UInt8]? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else {
            guard view.count <= maximumLineSize else { throw .malformed }
            return nil
        }
        guard let line = buffer.readBytes(length: end - view.startIndex + 1)?.dropLast(),
            line.count <= maximumLineSize, line.last == UInt8(ascii: "\r"),
            line.dropLast().allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { throw .malformed }
        return Array(line.dropLast())
    }

    /// - Parameter line: hexadecimal digits, optionally followed by extensions such as `;name=value`, which are
    ///   ignored.
    private static func size(_ line: [UInt8]) throws(RequestFault) -> Int {
        let parts = line.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let digits = parts[0]
        guard (1...8).contains(digits.count), parts.dropFirst().allSatisfy(isExtension) else { throw .malformed }
        var size = 0
        for byte in digits {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .malformed }
            size = size << 4 | digit
        }
        return size
    }
}
