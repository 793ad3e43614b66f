import OfferCore

/// The reason that something was not signed or explained. It never contains key material or the value of a field.
public struct SigningFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable code. Later versions add codes, so treat those that you do not know alike.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A value was refused before anything was signed; ``SigningFailure/field`` names it.
        public static let invalidField = Code(rawValue: "invalid_field")
        /// The text is not a usable P-256 key.
        public static let unusableKey = Code(rawValue: "unusable_key")
        /// libcrypto reported an error. Trying again may help.
        public static let cryptographyFailed = Code(rawValue: "cryptography_failed")
        /// The new signature does not verify. Stop signing on this machine: its memory, processor or libcrypto is at fault.
        public static let signatureRefused = Code(rawValue: "signature_refused")
    }

    public let code: Code
    /// The field at fault, if any.
    public let field: String?
    /// A sentence for a developer.
    public let description: String

    init(_ code: Code, field: String? = nil, _ description: String) {
        self.code = code
        self.field = field
        self.description = description
    }

    init(_ error: FieldError) { self.init(.invalidField, field: error.field, error.description) }

    init(_ fault: SigningFault) {
        switch fault {
        case .signingFailed(let error): self.init(.cryptographyFailed, "Signing failed: \(error).")
        case .verificationFailed(let error):
            self.init(.cryptographyFailed, "The new signature could not be verified: \(error).")
        case .signatureRefused:
            self.init(.signatureRefused, "The new signature does not verify, so it was discarded.")
        }
    }

    static func checking<Value>(_ make: () throws(FieldError) -> Value) throws(SigningFailure) -> Value {
        do { return try make() } catch { throw SigningFailure(error) }
    }

    static func signing<Value>(_ sign: () throws(SigningFault) -> Value) throws(SigningFailure) -> Value {
        do { return try sign() } catch { throw SigningFailure(error) }
    }
}
