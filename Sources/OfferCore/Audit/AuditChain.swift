/// What each line of the audit trail hands to the next, so that none can be altered, added or taken out without all that
/// follow being made anew: which shows where a later hash is known.
///
/// A line is a JSON object whose first member is its `line`, a number that grows by one, and whose last is its `hash`:
/// SHA-256 of the 32 bytes of the hash before it, and of the bytes of the line up to the comma before `hash`, in
/// lower-case hexadecimal. The chain begins with a hash of zeros and goes on from file to file.
package struct AuditChain: Hashable, Sendable {
    /// SHA-256 of the one and the other, 32 bytes.
    package typealias SHA256 = @Sendable (_ one: [UInt8], _ other: ArraySlice<UInt8>) throws -> [UInt8]

    /// The number of the last line; 0 where there is none yet.
    package var number: UInt64
    /// Its hash, 32 bytes.
    package var hash: [UInt8]

    package static let beginning = AuditChain(number: 0, hash: [UInt8](repeating: 0, count: 32))

    package init(number: UInt64, hash: [UInt8]) {
        self.number = number
        self.hash = hash
    }

    /// Appends one more line to `text`, of which nothing is left after an error.
    /// - Parameter write: writes its members between `line` and `hash`.
    package mutating func append(
        to text: inout [UInt8], sha256: SHA256, _ write: (inout JSONWriter) throws -> Void
    ) throws {
        let begin = text.count
        var writer = JSONWriter(appendingTo: &text)
        writer.member("line", Int64(number + 1))
        try write(&writer)
        writer.giveBack(&text)
        let hash = try sha256(self.hash, text[begin...])
        text += Self.hashMember
        Hexadecimal.append(hash, to: &text)
        text += Self.end
        self = AuditChain(number: number + 1, hash: hash)
    }

    static let hashMember = Array(#","hash":""#.utf8)
    /// With the end of the line.
    static let end = Array("\"}\n".utf8)
}
