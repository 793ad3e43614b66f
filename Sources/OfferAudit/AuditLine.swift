import OfferCore
package import OfferCrypto

/// One line of an audit trail, parsed only as far as the hash chain requires.
package struct AuditLine: Sendable {
    /// The error for a line with an HMAC that cannot be verified without the key.
    package struct KeyMissing: Error {}

    package let number: UInt64
    /// The line without its line feed.
    private let text: ArraySlice<UInt8>
    /// The bytes that the hash covers, together with the previous hash.
    package let content: ArraySlice<UInt8>
    /// The hash or HMAC of the line, 32 bytes.
    package let hash: [UInt8]
    /// True if ``hash`` is an HMAC.
    package let isKeyed: Bool

    /// - Parameter text: the line without its line feed.
    /// - Returns: nil if the text does not have the form that ``AuditChain`` writes.
    package init?(_ text: ArraySlice<UInt8>) {
        let end = AuditSeal.end.dropLast()
        let size = AuditSeal.hashMember.count + 64 + end.count
        guard text.count > size, text.starts(with: Self.beginning), text.suffix(end.count).elementsEqual(end) else {
            return nil
        }
        let tail = text.suffix(size)
        let digits = tail.dropFirst(AuditSeal.hashMember.count).prefix(64)
        isKeyed = tail.starts(with: AuditSeal.keyedMember)
        guard isKeyed || tail.starts(with: AuditSeal.hashMember), digits.allSatisfy({ !(0x41...0x5A).contains($0) }),
            let hash = Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self), count: 32)
        else { return nil }
        let number = text.dropFirst(Self.beginning.count).prefix { $0 != UInt8(ascii: ",") }
        guard number.first != UInt8(ascii: "0"), number.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(String(decoding: number, as: UTF8.self)), number < AuditChain.maximumNumber
        else { return nil }
        self.number = number
        self.text = text
        self.hash = hash
        content = text.dropLast(size)
    }

    private static let beginning = Array(#"{"line":"#.utf8)

    var textWithLineFeed: [UInt8] { text + [UInt8(ascii: "\n")] }

    /// The state of the chain after this line.
    package var chain: AuditChain { AuditChain(number: number, hash: hash, isKeyed: isKeyed) }

    /// Returns true if the line's hash is correct for a preceding line with the hash `previous`.
    /// - Parameter key: the key of lines with an HMAC.
    /// - Throws: ``KeyMissing`` if the line has an HMAC and there is no key.
    package func continues(_ previous: [UInt8], key: HMACSHA256Key? = nil) throws -> Bool {
        guard isKeyed else { return try SHA256.hash(previous, content) == hash }
        guard let key else { throw KeyMissing() }
        return try key.code(of: previous, content) == hash
    }

    /// The event that the line records; nil for a signature or a refusal.
    package var event: AuditEvent? { Self.event(in: content) }

    /// Finds the event in the text of a line, even an incomplete one. In a line about an event, `event` is always the
    /// third member, after `time`.
    static func event(in text: ArraySlice<UInt8>) -> AuditEvent? {
        let time = text.drop { $0 != UInt8(ascii: ",") }
        guard time.starts(with: timeMember) else { return nil }
        let event = time.dropFirst(timeMember.count).drop { $0 != UInt8(ascii: "\"") }
        guard event.starts(with: eventMember) else { return nil }
        let name = event.dropFirst(eventMember.count).prefix { $0 != UInt8(ascii: "\"") }
        return AuditEvent(rawValue: String(decoding: name, as: UTF8.self))
    }

    private static let timeMember = Array(#","time":""#.utf8)
    private static let eventMember = Array(#"","event":""#.utf8)

    /// The hash that the first line of a file continues from; nil for any other line.
    package var previous: [UInt8]? { event == .begin ? bytes(of: "previous") : nil }

    /// The hash of the last line known before a break; nil unless this line marks a break.
    var lastBeforeBreak: [UInt8]? { event == .broken ? bytes(of: "lastHash") : nil }

    /// Returns the 32 bytes that a member contains in hexadecimal.
    private func bytes(of member: String) -> [UInt8]? {
        guard case .object(let members) = try? JSONReader.read(Array(content) + [UInt8(ascii: "}")]),
            case .string(let digits) = members[member]
        else { return nil }
        return Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self), count: 32)
    }
}
