import COpenSSL

/// libcrypto's names of elliptic curves.
enum Curve {
    static let p256 = "prime256v1"
    /// NIST's curves of at least 256 bits.
    static let strong = [p256, "secp384r1", "secp521r1"]

    static func name(of pkey: OpaquePointer) -> String {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(pkey, &name, name.count, &count) == 1 else { return "(unnamed)" }
        return String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
