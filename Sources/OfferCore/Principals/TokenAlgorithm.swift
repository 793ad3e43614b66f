/// The signature algorithm of a user's token (RFC 7518 section 3.1, RFC 8037).
///
/// Only asymmetric algorithms are supported, so this service has no key that could forge tokens.
package enum TokenAlgorithm: String, CaseIterable, Hashable, Sendable {
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case edDSA = "EdDSA"

    /// - Parameter name: the `alg` of a key or token. `Ed25519` (RFC 9864) is `EdDSA` with the only supported
    ///   curve.
    /// - Returns: nil for an unsupported algorithm.
    package init?(name: some Collection<UInt8>) {
        if name.elementsEqual("Ed25519".utf8) {
            self = .edDSA
        } else if let algorithm = Self.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) {
            self = algorithm
        } else {
            return nil
        }
    }

    /// An issuer's default algorithms. Nearly all identity providers use one of them.
    package static let usual: Set<TokenAlgorithm> = [.es256, .rs256]
}
