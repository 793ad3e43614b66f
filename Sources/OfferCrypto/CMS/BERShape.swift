/// A bounded walk over ASN.1 in BER (X.690) that refuses input made to exhaust a parser.
///
/// It runs before libcrypto, whose limits are wider: each level of nested indefinite lengths takes it more time.
enum BERShape {
    /// A receipt has 10 levels of elements. A certificate's extensions are the deepest level.
    static let maximumDepth = 16
    /// Xcode may split the content into segments. An App Store receipt with three certificates has about 500 elements.
    static let maximumElements = 4096

    /// Checks that `bytes` is one element in BER of a reasonable shape. It enters only constructed elements.
    static func check(_ bytes: [UInt8]) throws(SignedMessageError) {
        var walk = BERWalk(bytes)
        repeat { try walk.step() } while !walk.isFinished
        guard walk.position == bytes.count else { throw .trailingBytes }
    }
}

/// The position of a walk over BER, and the constructed elements that are open at that position.
private struct BERWalk {
    private struct Open {
        /// The end of the element. If its length is indefinite, this is the end of the enclosing element.
        let end: Int
        let isIndefinite: Bool
    }

    private let bytes: [UInt8]
    private var open: [Open] = []
    private var elements = 0
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isFinished: Bool { open.isEmpty }

    /// Reads one header or one end-of-contents marker, then closes the elements that end there.
    mutating func step() throws(SignedMessageError) {
        if let innermost = open.last, innermost.isIndefinite, isAtEndOfContents {
            position += 2
            open.removeLast()
        } else {
            try readElement()
        }
        while let innermost = open.last, !innermost.isIndefinite, innermost.end == position { open.removeLast() }
    }

    /// The position at which the innermost element must end.
    private var limit: Int { open.last?.end ?? bytes.count }

    private var isAtEndOfContents: Bool {
        position + 2 <= limit && bytes[position] == 0 && bytes[position + 1] == 0
    }

    private mutating func readElement() throws(SignedMessageError) {
        elements += 1
        guard elements <= BERShape.maximumElements else { throw .tooComplex }
        let limit = limit
        let isConstructed = try readTag()
        let length = try readLength()
        guard let length else {
            guard isConstructed else { throw .malformed }
            return try enter(Open(end: limit, isIndefinite: true))
        }
        guard length <= limit - position else { throw .malformed }
        if isConstructed {
            try enter(Open(end: position + length, isIndefinite: false))
        } else {
            position += length
        }
    }

    private mutating func enter(_ element: Open) throws(SignedMessageError) {
        guard open.count < BERShape.maximumDepth else { throw .tooComplex }
        open.append(element)
    }

    private mutating func readByte() throws(SignedMessageError) -> UInt8 {
        guard position < limit else { throw .malformed }
        defer { position += 1 }
        return bytes[position]
    }

    /// - Returns: true if the element is constructed.
    private mutating func readTag() throws(SignedMessageError) -> Bool {
        let first = try readByte()
        // CMS and X.509 have no tag numbers above 30, which would take more bytes.
        guard first & 0x1F != 0x1F else { throw .malformed }
        return first & 0x20 != 0
    }

    /// - Returns: the length; nil for the indefinite form.
    private mutating func readLength() throws(SignedMessageError) -> Int? {
        let first = try readByte()
        guard first >= 0x80 else { return Int(first) }
        guard first > 0x80 else { return nil }
        guard first <= 0x84 else { throw .malformed }
        var length = 0
        for _ in 0..<(first & 0x7F) { length = length << 8 | Int(try readByte()) }
        return length
    }
}
