import OfferCore
import OfferCrypto

/// One line of an audit trail, parsed only as far as the hash chain requires.
package struct AuditLine: Sendable {
    package let number: UInt64
    /// The bytes that the hash covers, together with the previous hash.
    package let content: ArraySlice<UInt8>
    /// The hash of the line, 32 bytes.
    package let hash: [UInt8]

    /// - Parameter text: the line without its line feed.
    /// - Returns: nil if the text is not in the form that ``AuditChain`` writes.
    package init?(_ text: ArraySlice<UInt8>) {
        let end = AuditChain.end.dropLast()
        let size = AuditChain.hashMember.count + 64 + end.count
        guard text.count > size, text.starts(with: Self.beginning), text.suffix(end.count).elementsEqual(end) else {
            return nil
        }
        let tail = text.suffix(size)
        let digits = tail.dropFirst(AuditChain.hashMember.count).prefix(64)
        guard tail.starts(with: AuditChain.hashMember), digits.allSatisfy({ !(0x41...0x5A).contains($0) }),
            let hash = Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self), count: 32)
        else { return nil }
        let number = text.dropFirst(Self.beginning.count).prefix { $0 != UInt8(ascii: ",") }
        guard (1...Self.maximumDigits).contains(number.count), number.first != UInt8(ascii: "0"),
            number.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(String(decoding: number, as: UTF8.self))
        else { return nil }
        self.number = number
        self.hash = hash
        content = text.dropLast(size)
    }

    /// The maximum number of digits in a line number, enough for 30 years at one line per microsecond.
    private static let maximumDigits = 15
    private static let beginning = Array(#"{"line":"#.utf8)

    /// The state of the chain after this line.
    package var chain: AuditChain { AuditChain(number: number, hash: hash) }

    /// Whether the line's hash is correct if the line before it has the hash `previous`.
    package func continues(_ previous: [UInt8]) throws -> Bool {
        try SHA256.hash(previous, content) == hash
    }

    /// The hash that the first line of a file continues from; nil for any other line.
    package var previous: [UInt8]? {
        guard case .object(let members) = try? JSONReader.read(Array(content) + [UInt8(ascii: "}")]),
            case .string(let event) = members["event"], event == Array("begin".utf8),
            case .string(let digits) = members["previous"]
        else { return nil }
        return Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self), count: 32)
    }
}
