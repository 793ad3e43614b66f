/// The reason that a string is not a usable signing key. It never contains any part of the string.
package enum SigningKeyError: Error, Hashable {
    /// The string is neither base64 nor a complete PEM block. For an incomplete block, the value is libcrypto's error.
    case notPEM(OpenSSLError?)
    /// The PEM block is of another kind, such as `PUBLIC KEY`. The value is nil if the label may contain other text,
    /// such as the key.
    case wrongLabel(String?)
    case encrypted
    case unreadable(OpenSSLError)
    /// The key is not an elliptic-curve key. The value is libcrypto's name for its algorithm, such as `RSA`.
    case notEllipticCurve(String)
    /// The key is not on P-256. The value is libcrypto's name for the curve, such as `secp256k1`.
    case wrongCurve(String)
    /// Signatures made with the private half do not verify with the public half.
    case halvesDoNotMatch
}

extension SigningKeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notPEM(let error):
            "it is not PEM: there is no complete block from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----"
                + " with line breaks"
                + (error.map { " (\($0))" } ?? "")
        case .wrongLabel(let label):
            "it contains \(label.map { "a \($0)" } ?? "something else"), but an unencrypted PRIVATE KEY is needed"
        case .encrypted:
            "it is encrypted; App Store Connect's keys are not"
        case .unreadable(let error):
            "it is damaged or not a private key (\(error))"
        case .notEllipticCurve(let algorithm):
            "it is a key for \(algorithm), not for ECDSA with P-256"
        case .wrongCurve(let curve):
            "it is on the curve \(curve), not on P-256 (prime256v1)"
        case .halvesDoNotMatch:
            "signatures made with its private half do not verify with its public half"
        }
    }
}
