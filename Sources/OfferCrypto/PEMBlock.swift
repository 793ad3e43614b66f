import COpenSSL

/// One PEM block, decoded from base64. Its bytes are wiped when it is freed.
@safe struct PEMBlock: ~Copyable {
    let label: String
    /// Whether RFC 1421 headers precede the base64. The traditional form marks encrypted keys with them.
    let hasHeader: Bool
    private let data: UnsafeMutablePointer<UInt8>
    private let count: Int

    /// - Parameter otherThan: the label of blocks to skip.
    /// - Throws: libcrypto's error if there is no complete block.
    init(firstIn pem: [UInt8], otherThan passedOver: String = "") throws(OpenSSLError) {
        ERR_clear_error()
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        let isRead = unsafe pem.withUnsafeBytes { bytes in
            // The BIO refers to the bytes, so it must not outlive this closure.
            let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer { unsafe BIO_free(bio) }
            while unsafe PEM_read_bio(bio, &name, &header, &data, &count) == 1 {
                guard let label = unsafe name.map({ unsafe String(cString: $0) }), label == passedOver else {
                    return true
                }
                unsafe CRYPTO_free(name, #file, #line)
                unsafe CRYPTO_free(header, #file, #line)
                unsafe CRYPTO_clear_free(data, count, #file, #line)
            }
            return false
        }
        guard isRead, let name = unsafe name, let data = unsafe data else {
            throw .draining(after: "PEM_read_bio")
        }
        hasHeader = unsafe header.map { unsafe $0.pointee != 0 } ?? false
        label = unsafe String(cString: name)
        unsafe CRYPTO_free(name, #file, #line)
        unsafe CRYPTO_free(header, #file, #line)
        unsafe self.data = unsafe data
        self.count = count
    }

    deinit { unsafe CRYPTO_clear_free(data, count, #file, #line) }

    /// Lends the bytes to `body`, which must not let the pointer escape.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe body(UnsafeBufferPointer(start: data, count: count))
    }
}
