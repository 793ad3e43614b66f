package import OfferCore
import OfferCrypto

/// The hash chain of the audit trail. Altering, adding or removing a line changes the hashes of all later lines, so
/// anyone who knows a later hash can detect the change.
///
/// A line is a JSON object. Its first member is `line`, a number that increases by one per line. Its last member is
/// `hash`, in lower-case hexadecimal. The hash is SHA-256 of the previous hash (32 bytes) followed by the bytes of the
/// line up to the comma before `hash`. The chain begins with a hash of zeros and continues from file to file.
package struct AuditChain: Hashable, Sendable {
    /// The number of the last line; 0 if there is none yet.
    package var number: UInt64
    /// The hash of the last line, 32 bytes.
    package var hash: [UInt8]

    package static let beginning = AuditChain(number: 0, hash: [UInt8](repeating: 0, count: 32))

    package init(number: UInt64, hash: [UInt8]) {
        self.number = number
        self.hash = hash
    }

    /// Appends one line to `text`. After an error `text` is undefined and must be discarded.
    /// - Parameter write: writes the members between `line` and `hash`.
    package mutating func append(to text: inout [UInt8], _ write: (inout JSONWriter) throws -> Void) throws {
        let begin = text.count
        try JSONWriter.appendOpenObject(to: &text) { writer in
            writer.member("line", Int64(number + 1))
            try write(&writer)
        }
        let hash = try SHA256.hash(self.hash, text[begin...])
        text += Self.hashMember
        Hexadecimal.append(hash, to: &text)
        text += Self.end
        self = AuditChain(number: number + 1, hash: hash)
    }

    static let hashMember = Array(#","hash":""#.utf8)
    /// Includes the line feed.
    static let end = Array("\"}\n".utf8)
}
