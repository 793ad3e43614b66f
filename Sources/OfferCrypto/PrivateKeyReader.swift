import COpenSSL

/// Reads the private key in the first block of a PEM text into libcrypto; that block has to be PKCS #8.
enum PrivateKeyReader {
    /// The label of an unencrypted PKCS #8 key (RFC 7468 section 10), the form App Store Connect issues.
    private static let label = "PRIVATE KEY"

    /// - Returns: a new `EVP_PKEY` that the caller owns.
    static func read(pem: [UInt8]) throws(SigningKeyError) -> OpaquePointer {
        ERR_clear_error()
        guard let block = PEMBlock(firstIn: pem) else { throw .notPEM }
        guard !block.hasHeader else { throw .encrypted }
        switch block.label {
        case label: break
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        default: throw .wrongLabel(block.label)
        }
        guard let pkey = unsafe block.withBytes({ unsafe decode($0) }) else {
            throw .unreadable(.draining(after: "EVP_PKCS82PKEY"))
        }
        return unsafe pkey
    }

    /// - Parameter der: PrivateKeyInfo (RFC 5958), with nothing behind it.
    private static func decode(_ der: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
        var cursor = der.baseAddress
        guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, der.count) else { return nil }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        guard unsafe cursor == der.baseAddress.map({ unsafe $0 + der.count }) else { return nil }
        return unsafe EVP_PKCS82PKEY(info)
    }
}
