package import OfferCore
import OfferCrypto

/// The hash chain of the audit trail. Altering, adding or removing a line changes the hashes of all later lines, so
/// anyone who knows a later hash can detect the change.
///
/// A line is a JSON object. Its first member is `line`, a number that increases by one per line. Its last member is
/// `hash` or `hmac`, in lower-case hexadecimal. The value is the SHA-256, or the HMAC-SHA-256 with a key, of the
/// previous line's value (32 bytes) followed by the bytes of this line up to the comma before that member. The chain
/// begins with zeros and continues from file to file.
package struct AuditChain: Sendable {
    /// The number of the last line; 0 if there is none yet.
    package var number: UInt64
    /// The hash or HMAC of the last line, 32 bytes.
    package var hash: [UInt8]
    /// True if ``hash`` is an HMAC.
    package var isKeyed: Bool
    /// The method that links the next lines to the last one.
    package var seal: AuditSeal

    package static let beginning = AuditChain(number: 0, hash: [UInt8](repeating: 0, count: 32))

    package init(number: UInt64, hash: [UInt8], isKeyed: Bool = false, seal: AuditSeal = .hash) {
        self.number = number
        self.hash = hash
        self.isKeyed = isKeyed
        self.seal = seal
    }

    /// Appends one line to `text`. After an error, the content of `text` is undefined and must be discarded.
    /// - Parameter write: writes the members between `line` and `hash`.
    package mutating func append(to text: inout [UInt8], _ write: (inout JSONWriter) throws -> Void) throws {
        let begin = text.count
        try JSONWriter.appendOpenObject(to: &text) { writer in
            writer.member("line", Int64(number + 1))
            try write(&writer)
        }
        let code = try seal.code(of: hash, text[begin...])
        text += seal.member
        Hexadecimal.append(code, to: &text)
        text += AuditSeal.end
        number += 1
        hash = code
        isKeyed = seal.isKeyed
    }

    /// The upper limit of line numbers. A trail with one line per microsecond would take three years to reach it.
    static let maximumNumber: UInt64 = 100_000_000_000_000

    /// Returns true if a line that follows missing lines can plausibly have this number. Someone could write a much
    /// larger number to make the trail reach the limit, beyond which it cannot be read.
    func isPlausible(next number: UInt64) -> Bool {
        number > self.number && number - self.number <= Self.maximumNumber / 100_000
    }
}
