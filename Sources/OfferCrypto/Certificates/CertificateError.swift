/// The reason that bytes are not an acceptable certificate. It never quotes the certificate.
package enum CertificateError: Error, Hashable, Sendable {
    /// The certificate has more than ``X509Certificate/maximumSize`` bytes.
    case tooLarge
    /// libcrypto cannot parse the bytes, or an extension that it knows is malformed.
    case unreadable(OpenSSLError)
    /// Bytes follow the certificate.
    case trailingBytes
    /// The encoding is BER but not DER.
    case notDER
}

extension CertificateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge: "the certificate is larger than \(X509Certificate.maximumSize) bytes"
        case .unreadable(let error): "not an X.509 certificate: \(error)"
        case .trailingBytes: "bytes follow the certificate"
        case .notDER: "the certificate is not encoded in DER"
        }
    }
}
