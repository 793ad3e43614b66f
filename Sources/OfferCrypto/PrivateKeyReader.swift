import COpenSSL

/// Reads a private key into libcrypto, from every form in ``KeyText``: unencrypted PKCS #8 (RFC 5958), as App Store
/// Connect issues it, or SEC 1 (RFC 5915), as `openssl ec` writes it. Of a PEM text the first block counts.
enum PrivateKeyReader {
    /// - Returns: a new `EVP_PKEY` that the caller owns.
    static func read(_ text: [UInt8]) throws(SigningKeyError) -> OpaquePointer {
        ERR_clear_error()
        guard let text = KeyText(text) else { throw .notPEM }
        switch text {
        case .pem(let pem):
            return try unsafe read(pem: pem)
        case .der(let der):
            let pkey = unsafe der.withUnsafeBufferPointer { unsafe decodePKCS8($0) ?? decodeSEC1($0) }
            guard let pkey = unsafe pkey else {
                throw .unreadable(.draining(after: "d2i_PKCS8_PRIV_KEY_INFO, EVP_PKCS82PKEY or d2i_PrivateKey"))
            }
            return unsafe pkey
        }
    }

    private static func read(pem: [UInt8]) throws(SigningKeyError) -> OpaquePointer {
        // openssl ecparam writes the parameters of the curve in a block of their own in front of the key.
        guard let block = PEMBlock(firstIn: pem, otherThan: "EC PARAMETERS") else { throw .notPEM }
        guard !block.hasHeader else { throw .encrypted }
        let pkey: OpaquePointer?
        switch block.label {
        case "PRIVATE KEY": unsafe pkey = unsafe block.withBytes { unsafe decodePKCS8($0) }
        case "EC PRIVATE KEY": unsafe pkey = unsafe block.withBytes { unsafe decodeSEC1($0) }
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        default: throw .wrongLabel(block.label)
        }
        guard let pkey = unsafe pkey else {
            throw .unreadable(.draining(after: "d2i_PKCS8_PRIV_KEY_INFO, EVP_PKCS82PKEY or d2i_PrivateKey"))
        }
        return unsafe pkey
    }

    /// - Parameter der: PrivateKeyInfo, with nothing behind it.
    private static func decodePKCS8(_ der: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
        var cursor = der.baseAddress
        guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, der.count) else { return nil }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        guard unsafe cursor == der.baseAddress.map({ unsafe $0 + der.count }) else { return nil }
        return unsafe EVP_PKCS82PKEY(info)
    }

    /// - Parameter der: ECPrivateKey, with nothing behind it.
    private static func decodeSEC1(_ der: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
        var cursor = der.baseAddress
        guard let pkey = unsafe d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, der.count) else { return nil }
        guard unsafe cursor == der.baseAddress.map({ unsafe $0 + der.count }) else {
            unsafe EVP_PKEY_free(pkey)
            return nil
        }
        return unsafe pkey
    }
}
