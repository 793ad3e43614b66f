/// A signature's one-time UUID (version 4). It is the sixth field of the payload.
///
/// A nonce is never reused: a signature is valid for a single purchase request, even if that request fails.
package struct Nonce: Hashable, Sendable {
    package let uuid: UUIDText

    /// Makes a nonce of 122 random bits; the other six encode version 4 and the RFC 9562 variant.
    ///
    /// - Parameter random: the system's cryptographically secure generator, except in tests.
    package init(using random: inout some RandomNumberGenerator) {
        let high = random.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000
        let low = random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        uuid = UUIDText(high: high, low: low)
    }

    /// Parses a nonce that was issued earlier: any UUID, in either letter case.
    package init(utf8: [UInt8], field: String = "nonce") throws(FieldError) {
        guard let uuid = UUIDText(parsing: utf8) else { throw FieldError(field: field, reason: .notUUID) }
        self.uuid = uuid
    }
}

extension Nonce: CustomStringConvertible {
    package var description: String { uuid.description }
}
