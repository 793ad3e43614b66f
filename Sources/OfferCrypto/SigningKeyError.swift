/// The reason why a text is not a usable signing key. It never contains any of the text.
package enum SigningKeyError: Error, Hashable {
    /// Neither base64 nor a complete PEM block; with libcrypto's error for the latter.
    case notPEM(OpenSSLError?)
    /// A PEM block of another kind, such as `PUBLIC KEY`; nil if the label may contain something else, such as the key.
    case wrongLabel(String?)
    case encrypted
    case unreadable(OpenSSLError)
    /// Not an elliptic-curve key; libcrypto's name for its algorithm, such as `RSA`.
    case notEllipticCurve(String)
    /// A curve other than P-256; libcrypto's name for it, such as `secp256k1`.
    case wrongCurve(String)
    /// The public half does not accept what the private half signs.
    case halvesDoNotMatch
}

extension SigningKeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notPEM(let error):
            "it is not PEM: there is no whole block from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----, in lines"
                + (error.map { " (\($0))" } ?? "")
        case .wrongLabel(let label):
            "it holds \(label.map { "a \($0)" } ?? "something else") where an unencrypted PRIVATE KEY is needed"
        case .encrypted:
            "it is encrypted; App Store Connect's keys are not"
        case .unreadable(let error):
            "it is damaged, or no private key at all (\(error))"
        case .notEllipticCurve(let algorithm):
            "it is a key for \(algorithm), not for ECDSA with P-256"
        case .wrongCurve(let curve):
            "it is on the curve \(curve), not on P-256 (prime256v1)"
        case .halvesDoNotMatch:
            "its public half does not verify what its private half signs"
        }
    }
}
