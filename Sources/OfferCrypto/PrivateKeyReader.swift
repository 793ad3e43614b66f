import COpenSSL

/// A parser of private keys in every form of ``KeyText``. It accepts unencrypted PKCS #8 (RFC 5958), as App Store
/// Connect issues it, and SEC 1 (RFC 5915), as `openssl ec` writes it. In PEM, it skips `EC PARAMETERS` blocks and
/// reads only the first block of another kind.
enum PrivateKeyReader {
    /// - Returns: the form of the text, such as `PKCS #8, PEM`, and a new `EVP_PKEY` that the caller owns.
    static func read(_ text: SecretBytes) throws(SigningKeyError) -> (form: String, pkey: OpaquePointer) {
        ERR_clear_error()
        guard let text = KeyText(text) else { throw .notPEM(nil) }
        switch text {
        case .pem(let pem, let form):
            let (structure, pkey) = try unsafe read(pem: pem)
            return unsafe ("\(structure), \(form)", pkey)
        case .der(let der, let form):
            return try unsafe der.withBytes { der throws(SigningKeyError) in
                if let pkey = unsafe decodePKCS8(der) { return unsafe ("\(pkcs8), \(form)", pkey) }
                if let pkey = unsafe decodeSEC1(der) { return unsafe ("\(sec1), \(form)", pkey) }
                throw .unreadable(.draining(after: "d2i_PKCS8_PRIV_KEY_INFO, EVP_PKCS82PKEY or d2i_PrivateKey"))
            }
        }
    }

    private static let pkcs8 = "PKCS #8"
    private static let sec1 = "SEC 1"

    private static func read(pem: SecretBytes) throws(SigningKeyError) -> (structure: String, pkey: OpaquePointer) {
        // `openssl ecparam` writes the curve parameters in a separate block before the key.
        let block: PEMBlock
        do throws(OpenSSLError) {
            block = try unsafe pem.withBytes { pem throws(OpenSSLError) in
                try unsafe PEMBlock(firstIn: pem, otherThan: "EC PARAMETERS")
            }
        } catch { throw .notPEM(error) }
        guard !block.hasHeader else { throw .encrypted }
        let structure: String
        let pkey: OpaquePointer?
        switch block.label {
        case "PRIVATE KEY": unsafe (structure, pkey) = unsafe (pkcs8, block.withBytes { unsafe decodePKCS8($0) })
        case "EC PRIVATE KEY": unsafe (structure, pkey) = unsafe (sec1, block.withBytes { unsafe decodeSEC1($0) })
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        default: throw .wrongLabel(isLabel(block.label) ? block.label : nil)
        }
        guard let pkey = unsafe pkey else {
            throw .unreadable(.draining(after: "d2i_PKCS8_PRIV_KEY_INFO, EVP_PKCS82PKEY or d2i_PrivateKey"))
        }
        return unsafe (structure, pkey)
    }

    /// Returns true if a string looks like a PEM label: capital letters, digits and spaces. In PEM without line breaks,
    /// the label that libcrypto reads may contain the key, and an error must not quote the key.
    private static func isLabel(_ text: String) -> Bool {
        text.utf8.count <= 40
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x20: true
                default: false
                }
            }
    }

    /// - Parameter der: PrivateKeyInfo without trailing bytes.
    private static func decodePKCS8(_ der: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
        var cursor = der.baseAddress
        guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, der.count) else { return nil }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        guard unsafe cursor == der.baseAddress.map({ unsafe $0 + der.count }) else { return nil }
        return unsafe EVP_PKCS82PKEY(info)
    }

    /// - Parameter der: ECPrivateKey without trailing bytes.
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
