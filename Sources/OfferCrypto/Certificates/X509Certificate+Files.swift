import COpenSSL

extension X509Certificate {
    /// The maximum number of certificates in one PEM file.
    package static let maximumCount = 32

    /// Reads the certificates of a file: one in DER, or up to ``maximumCount`` `CERTIFICATE` blocks in PEM (RFC 7468
    /// section 5). Other text and other blocks are skipped.
    /// - Returns: an empty array if there is no certificate.
    package static func readAll(_ file: [UInt8]) throws(CertificateError) -> [X509Certificate] {
        // DER begins with the tag of a SEQUENCE, which is the digit 0 in ASCII. The length byte after it is above 0x7F,
        // and so is not ASCII.
        if file.first == 0x30, file.dropFirst().first.map({ $0 > 0x7F }) ?? false {
            return [try X509Certificate(der: file)]
        }
        var certificates: [X509Certificate] = []
        for der in blocks(in: file) { certificates.append(try X509Certificate(der: der)) }
        return certificates
    }

    private static func blocks(in pem: [UInt8]) -> [[UInt8]] {
        unsafe pem.withUnsafeBytes { buffer in
            let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
            defer { unsafe BIO_free(bio) }
            var blocks: [[UInt8]] = []
            while blocks.count < maximumCount, let block = unsafe nextBlock(from: bio) {
                if block.label == "CERTIFICATE" { blocks.append(block.der) }
            }
            ERR_clear_error()
            return blocks
        }
    }

    private static func nextBlock(from bio: OpaquePointer?) -> (label: String, der: [UInt8])? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard unsafe PEM_read_bio(bio, &name, &header, &data, &count) == 1, let label = unsafe name else { return nil }
        defer {
            unsafe CRYPTO_free(name, #file, #line)
            unsafe CRYPTO_free(header, #file, #line)
            unsafe CRYPTO_free(data, #file, #line)
        }
        return unsafe (String(cString: label), Array(UnsafeBufferPointer(start: data, count: count)))
    }
}
