import COpenSSL

/// A parsed CMS message (RFC 5652) owned by libcrypto. It exists for one verification.
@safe struct ContentInfo: ~Copyable {
    let pointer: OpaquePointer

    /// - Parameter ber: one message in BER or DER, without trailing bytes.
    init(ber: [UInt8]) throws(SignedMessageError) {
        ERR_clear_error()
        var consumed = 0
        let parsed = unsafe ber.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            let parsed = unsafe d2i_CMS_ContentInfo(nil, &cursor, buffer.count)
            if let start = buffer.baseAddress, let cursor = unsafe cursor { consumed = unsafe cursor - start }
            return unsafe parsed
        }
        guard let parsed = unsafe parsed else { throw .unreadable(.draining(after: "d2i_CMS_ContentInfo")) }
        guard consumed == ber.count else {
            unsafe CMS_ContentInfo_free(parsed)
            throw .trailingBytes
        }
        unsafe pointer = unsafe parsed
    }

    deinit { unsafe CMS_ContentInfo_free(pointer) }

    var isSignedData: Bool { unsafe OBJ_obj2nid(CMS_get0_type(pointer)) == NID_pkcs7_signed }

    /// True if the signed content is of the type `data` (1.2.840.113549.1.7.1).
    var containsData: Bool { unsafe OBJ_obj2nid(CMS_get0_eContentType(pointer)) == NID_pkcs7_data }

    /// The content, with its segments joined; nil if the message does not contain it.
    var content: [UInt8]? {
        guard let content = unsafe CMS_get0_content(pointer), let string = unsafe content.pointee else { return nil }
        return unsafe CertificateText.bytes(of: string)
    }

    /// The SignerInfo structures, which belong to the message.
    var signers: [OpaquePointer] {
        let stack = unsafe CMS_get0_SignerInfos(pointer)
        return unsafe (0..<max(OPENSSL_sk_num(stack), 0)).compactMap { index in
            unsafe OPENSSL_sk_value(stack, index).map { OpaquePointer($0) }
        }
    }

    /// - Parameter maximum: the maximum number of certificates.
    func certificates(atMost maximum: Int) throws(SignedMessageError) -> [X509Certificate] {
        guard let stack = unsafe CMS_get1_certs(pointer) else { return [] }
        defer { unsafe offer_free_certificates(stack) }
        let count = unsafe OPENSSL_sk_num(stack)
        guard count <= maximum else { throw .tooManyCertificates }
        var certificates: [X509Certificate] = []
        for index in 0..<count {
            guard let certificate = unsafe OPENSSL_sk_value(stack, index) else { continue }
            do { certificates.append(try unsafe X509Certificate(sharing: OpaquePointer(certificate))) } catch {
                throw .certificate(error)
            }
        }
        return certificates
    }
}
