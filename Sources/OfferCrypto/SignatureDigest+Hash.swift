import COpenSSL
import OfferCore

extension SignatureDigest {
    /// The size of the longest digest, in bytes.
    private static let maximumSize = 64

    /// Hashes `message`.
    func hash(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var digest = [UInt8](repeating: 0, count: Self.maximumSize)
        var count = 0
        guard unsafe EVP_Q_digest(nil, name, nil, message, message.count, &digest, &count) == 1 else {
            throw .draining(after: "EVP_Q_digest")
        }
        return Array(digest.prefix(count))
    }

    /// libcrypto's name of the digest.
    private var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha224: "SHA224"
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }
}
