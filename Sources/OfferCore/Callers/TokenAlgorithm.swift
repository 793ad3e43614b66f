/// How a user's token is signed (RFC 7518 section 3.1, RFC 8037): only ways with a public key, of which a leak here costs
/// nothing.
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

    /// - Parameter name: as a key or a token has it. `Ed25519` (RFC 9864) is what `EdDSA` is with the only curve that is taken.
    package init?(name: some Collection<UInt8>) {
        if name.elementsEqual("Ed25519".utf8) {
            self = .edDSA
        } else if let algorithm = Self.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) {
            self = algorithm
        } else {
            return nil
        }
    }

    /// What an issuer's tokens may be signed with where nothing else is said: what nearly all of them use.
    package static let usual: Set<TokenAlgorithm> = [.es256, .rs256]
}
