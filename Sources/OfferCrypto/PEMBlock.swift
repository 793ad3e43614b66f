import COpenSSL

/// One PEM block, decoded from base64. Its bytes are on libcrypto's secure heap, if there is one, and are wiped when
/// freed.
@safe struct PEMBlock: ~Copyable {
    let label: String
    /// True if RFC 1421 headers precede the base64. The traditional form marks encrypted keys with them.
    let hasHeader: Bool
    private let data: UnsafeMutablePointer<UInt8>
    private let count: Int

    /// - Parameters:
    ///   - pem: the text, which needs to outlive only this call.
    ///   - passedOver: the label of blocks to skip.
    /// - Throws: libcrypto's error if there is no complete block.
    init(firstIn pem: UnsafeBufferPointer<UInt8>, otherThan passedOver: String = "") throws(OpenSSLError) {
        ERR_clear_error()
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        let bio = unsafe BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count))
        defer { unsafe BIO_free(bio) }
        // With this flag, libcrypto reads into the secure heap and wipes its intermediate buffers.
        let flags = UInt32(PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE)
        var isRead = false
        while !isRead, unsafe PEM_read_bio_ex(bio, &name, &header, &data, &count, flags) == 1 {
            let label = unsafe name.map { unsafe String(cString: $0) }
            isRead = label != passedOver
            guard !isRead else { break }
            unsafe CRYPTO_secure_free(name, #file, #line)
            unsafe CRYPTO_secure_free(header, #file, #line)
            unsafe CRYPTO_secure_clear_free(data, count, #file, #line)
        }
        guard isRead, let name = unsafe name, let data = unsafe data else {
            throw .draining(after: "PEM_read_bio")
        }
        hasHeader = unsafe header.map { unsafe $0.pointee != 0 } ?? false
        label = unsafe String(cString: name)
        unsafe CRYPTO_secure_free(name, #file, #line)
        unsafe CRYPTO_secure_free(header, #file, #line)
        unsafe self.data = unsafe data
        self.count = count
    }

    deinit { unsafe CRYPTO_secure_clear_free(data, count, #file, #line) }

    /// Lends the bytes to `body`, which must not let the pointer escape.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe body(UnsafeBufferPointer(start: data, count: count))
    }
}
