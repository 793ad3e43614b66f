package import OfferCore

/// The kinds of public key that verify users' tokens (RFC 7518 section 6, RFC 8037 section 2).
package enum TokenKeyKind: Hashable, Sendable {
    case rsa
    case ellipticCurve(TokenCurve)
    case ed25519

    /// The algorithms that a key of this kind verifies (RFC 7518 section 3.1, RFC 8037 section 3.1).
    package var algorithms: [TokenAlgorithm] {
        switch self {
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .ellipticCurve(.p256): [.es256]
        case .ellipticCurve(.p384): [.es384]
        case .ellipticCurve(.p521): [.es512]
        case .ed25519: [.edDSA]
        }
    }
}

/// The curves of ECDSA keys. Raw values are the names in a JWK (RFC 7518 section 6.2.1.1) and in libcrypto.
package enum TokenCurve: String, CaseIterable, Hashable, Sendable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// The size of a coordinate, of r and of s, in bytes (RFC 7518 sections 3.4 and 6.2.1.2).
    package var numberSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }
}
