import COpenSSL

/// A CMS SignedData message (RFC 5652 section 5) with one signer and the content that it signs, as in an app receipt.
///
/// The signature is verified with the signer's enclosed certificate. ``CertificateChain`` decides whether to trust that
/// certificate.
@safe package struct SignedMessage: ~Copyable {
    /// The maximum size in bytes. A genuine receipt with 187 purchases takes 79 KB.
    package static let maximumSize = 1024 * 1024
    /// The maximum number of enclosed certificates. Receipts have one or three.
    package static let maximumCertificates = 8

    private let info: ContentInfo
    private let signer: OpaquePointer  // belongs to `info`

    /// All enclosed certificates, in the order of the message. They have not been verified.
    package let certificates: [X509Certificate]
    /// The only enclosed certificate with the signer's issuer and serial number.
    package let signerCertificate: X509Certificate
    /// The signed bytes before verification. Anyone could have written them. See ``verifiedContent()``.
    package let unverifiedContent: [UInt8]

    /// - Parameter ber: one message in BER or DER, without trailing bytes.
    package init(ber: [UInt8]) throws(SignedMessageError) {
        guard ber.count <= Self.maximumSize else { throw .tooLarge }
        try BERShape.check(ber)
        let info = try ContentInfo(ber: ber)
        guard info.isSignedData else { throw .notSignedData }
        guard info.containsData else { throw .wrongContentType }
        guard let content = info.content else { throw .detached }
        let signers = unsafe info.signers
        let count = unsafe signers.count
        guard let signer = unsafe signers.first, count == 1 else { throw .signerCount(count) }
        let certificates = try info.certificates(atMost: Self.maximumCertificates)
        signerCertificate = try unsafe Self.certificate(of: signer, among: certificates)
        self.certificates = certificates
        unverifiedContent = content
        unsafe self.signer = unsafe signer
        self.info = info
    }

    /// Verifies the signature, and the signed attributes if there are any.
    /// - Returns: the signed bytes.
    package func verifiedContent() throws(SignedMessageError) -> [UInt8] {
        guard signerCertificate.hasUsualRSAKey else { throw .unsuitableKey }
        let digest = try unsafe SignerAlgorithms.digest(of: signer)
        ERR_clear_error()
        unsafe CMS_SignerInfo_set1_signer_cert(signer, signerCertificate.pointer)
        if unsafe CMS_signed_get_attr_count(signer) >= 0 { try verifySignedAttributes() }
        try unsafe verify(unverifiedContent, with: digest)
        return unverifiedContent
    }

    /// Verifies the signature over the signed attributes. They cover the content, because one of them is its digest.
    private func verifySignedAttributes() throws(SignedMessageError) {
        // -3 requires that the attribute occurs once and has one value.
        let type = unsafe CMS_signed_get0_data_by_OBJ(signer, OBJ_nid2obj(NID_pkcs9_contentType), -3, V_ASN1_OBJECT)
        guard let type = unsafe type, unsafe OBJ_obj2nid(OpaquePointer(type)) == NID_pkcs7_data else {
            ERR_clear_error()
            throw .wrongContentTypeAttribute
        }
        guard unsafe CMS_SignerInfo_verify(signer) == 1 else {
            ERR_clear_error()
            throw .wrongSignature
        }
    }

    /// Compares the content with the digest in the signed attributes. Without attributes, verifies the signature over
    /// the content.
    private func verify(_ content: [UInt8], with digest: OpaquePointer?) throws(SignedMessageError) {
        // CMS_verify would hash the content with every algorithm that the message lists, and it can list thousands.
        guard let hashing = unsafe offer_digest_bio(digest) else { throw .failed(.draining(after: "BIO_set_md")) }
        defer { unsafe BIO_free_all(hashing) }
        guard unsafe content.isEmpty || BIO_write(hashing, content, Int32(content.count)) == content.count else {
            throw .failed(.draining(after: "BIO_write"))
        }
        // 1 means valid, 0 means invalid, and a negative value means malformed, so only 1 is success.
        guard unsafe CMS_SignerInfo_verify_content(signer, hashing) == 1 else {
            ERR_clear_error()
            throw .wrongSignature
        }
    }

    private static func certificate(
        of signer: OpaquePointer, among certificates: [X509Certificate]
    ) throws(SignedMessageError) -> X509Certificate {
        var issuer: OpaquePointer?
        var serialNumber: UnsafeMutablePointer<ASN1_INTEGER>?
        guard unsafe CMS_SignerInfo_get0_signer_id(signer, nil, &issuer, &serialNumber) == 1, unsafe issuer != nil
        else {
            throw .unnamedSigner
        }
        let matches = certificates.filter { unsafe CMS_SignerInfo_cert_cmp(signer, $0.pointer) == 0 }
        guard let match = matches.first, matches.count == 1 else { throw .signerCertificateCount(matches.count) }
        return match
    }
}
