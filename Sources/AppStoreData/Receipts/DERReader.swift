import OfferCore

/// A strict reader of ASN.1 in DER (X.690). It accepts only definite lengths in the shortest form.
///
/// It accepts superfluous leading zeros only in an INTEGER, because Apple documents no size for them.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads an element.
    /// - Returns: the content of the element.
    mutating func next(_ tag: DERTag) throws(DERError) -> ArraySlice<UInt8> {
        guard rest.popFirst() == tag.rawValue else { throw .wrongTag }
        let length = try readLength()
        guard length <= rest.count else { throw .truncated }
        let content = rest.prefix(length)
        rest = rest.dropFirst(length)
        return content
    }

    /// Reads a non-negative INTEGER that fits into 64 bits.
    mutating func nextNumber() throws(DERError) -> UInt64 {
        let content = try next(.integer)
        // The top bit of the first byte is the sign.
        guard let first = content.first, first < 0x80 else { throw .notNumber }
        let digits = content.drop { $0 == 0 }
        guard digits.count <= 8 else { throw .notNumber }
        return digits.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func requireEnd() throws(DERError) {
        guard isAtEnd else { throw .trailingBytes }
    }

    /// Reads bytes that consist of exactly one element.
    static func only(_ tag: DERTag, in bytes: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        var reader = DERReader(bytes)
        let content = try reader.next(tag)
        try reader.requireEnd()
        return content
    }

    private mutating func readLength() throws(DERError) -> Int {
        guard let first = rest.popFirst() else { throw .truncated }
        guard first >= 0x80 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count) else { throw .badLength }
        guard count <= rest.count else { throw .truncated }
        let length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(count)
        guard length >= 0x80, length >> (8 * (count - 1)) > 0 else { throw .badLength }
        return length
    }
}

/// The tags in a receipt's payload.
enum DERTag: UInt8 {
    case integer = 0x02
    case octetString = 0x04
    case utf8String = 0x0C
    case ia5String = 0x16
    case sequence = 0x30
    case set = 0x31
}

/// The reason that bytes are not the expected DER.
package enum DERError: String, Error, Hashable, Sendable {
    case wrongTag
    case truncated
    /// The length is indefinite, longer than four bytes, or not in the shortest form.
    case badLength
    /// The number is negative, empty or longer than 64 bits.
    case notNumber
    case trailingBytes
}
