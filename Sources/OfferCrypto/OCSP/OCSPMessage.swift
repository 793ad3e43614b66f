import COpenSSL

/// A successful OCSP response with its basic response (RFC 6960 section 4.2.1), owned by libcrypto and not verified.
@safe struct OCSPMessage: ~Copyable {
    private let basic: OpaquePointer

    /// - Parameter der: one response, without trailing bytes.
    init(der: [UInt8]) throws(OCSPFailure) {
        ERR_clear_error()
        let basic = try unsafe Self.parse(der)
        // libcrypto also reads BER and ignores trailing bytes, but it always writes DER.
        guard unsafe Self.encode(basic) == der else {
            unsafe OCSP_BASICRESP_free(basic)
            throw .unreadable
        }
        unsafe self.basic = unsafe basic
    }

    deinit { unsafe OCSP_BASICRESP_free(basic) }

    /// True if the signature algorithm is strong and has no parameters. The algorithm itself is not signed.
    var usesStrongSignature: Bool {
        var (algorithm, parameters): (OpaquePointer?, Int32) = (nil, 0)
        unsafe X509_ALGOR_get0(&algorithm, &parameters, nil, OCSP_resp_get0_tbs_sigalg(basic))
        return unsafe OCSPAlgorithms.isStrong(OBJ_obj2nid(algorithm))
            && (parameters == V_ASN1_UNDEF || parameters == V_ASN1_NULL)
    }

    /// Returns true if the certificate's key made the signature.
    func isSigned(by certificate: X509Certificate) -> Bool {
        defer { ERR_clear_error() }
        // The function verifies the bytes that libcrypto would write. They equal the received bytes, which are DER.
        return unsafe ASN1_item_verify(
            OCSP_RESPDATA_it(), OCSP_resp_get0_tbs_sigalg(basic), OCSP_resp_get0_signature(basic),
            UnsafeRawPointer(OCSP_resp_get0_respdata(basic)), X509_get0_pubkey(certificate.pointer)) == 1
    }

    /// Returns true if the responder's identifier, a name or SHA-1 of a public key, matches the certificate.
    func names(_ certificate: X509Certificate) -> Bool {
        var (hash, name): (UnsafePointer<ASN1_OCTET_STRING>?, OpaquePointer?)
        guard unsafe OCSP_resp_get0_id(basic, &hash, &name) == 1 else { return false }
        if let name = unsafe name { return unsafe X509_NAME_cmp(name, X509_get_subject_name(certificate.pointer)) == 0 }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard unsafe X509_pubkey_digest(certificate.pointer, EVP_sha1(), &digest, &count) == 1 else { return false }
        return unsafe CertificateText.bytes(of: hash) == Array(digest.prefix(Int(count)))
    }

    /// Returns the certificates in the response, in order, except unreadable ones.
    func certificates() throws(OCSPFailure) -> [X509Certificate] {
        let stack = unsafe OCSP_resp_get0_certs(basic)
        let count = unsafe max(OPENSSL_sk_num(stack), 0)
        guard count <= OCSPResponse.maximumCertificates else { throw .tooManyCertificates }
        return (0..<count).compactMap { index in
            guard let pointer = unsafe OPENSSL_sk_value(stack, index),
                let der = try? unsafe OCSPEncoding.bytes(
                    after: "i2d_X509", { unsafe i2d_X509(OpaquePointer(pointer), &$0) })
            else { return nil }
            return try? X509Certificate(der: der)
        }
    }

    /// True if the response has a critical extension. We process none, so RFC 5280 section 4.2 requires us to refuse
    /// it.
    var hasCriticalExtension: Bool { unsafe OCSP_BASICRESP_get_ext_by_critical(basic, 1, -1) >= 0 }

    /// Returns the only answer about the certificate.
    func answer(
        about certificate: X509Certificate, issuedBy issuer: X509Certificate
    ) throws(OCSPFailure) -> OCSPResponse {
        var answer: OpaquePointer?
        let count = unsafe OCSP_resp_count(basic)
        for index in 0..<max(count, 0) {
            guard let single = unsafe OCSP_resp_get0(basic, index),
                unsafe Self.isAbout(single, certificate, issuedBy: issuer)
            else { continue }
            guard unsafe answer == nil else { throw .ambiguous }
            unsafe answer = unsafe single
        }
        guard let answer = unsafe answer else { throw .otherCertificate }
        return try unsafe Self.read(answer)
    }

    /// Returns true if an answer names exactly this certificate: its serial number, and its issuer's name and key by
    /// hash.
    private static func isAbout(
        _ single: OpaquePointer, _ certificate: X509Certificate, issuedBy issuer: X509Certificate
    ) -> Bool {
        guard let id = unsafe OCSP_SINGLERESP_get0_id(single) else { return false }
        var hash: OpaquePointer?
        // The responder may identify the certificate with a different hash than the request does.
        guard unsafe OCSP_id_get0_info(nil, &hash, nil, nil, id) == 1,
            let digest = unsafe OCSPAlgorithms.digest(OBJ_obj2nid(hash)),
            let ours = unsafe OCSP_cert_to_id(digest, certificate.pointer, issuer.pointer)
        else { return false }
        defer { unsafe OCSP_CERTID_free(ours) }
        return unsafe OCSP_id_cmp(id, ours) == 0
    }

    private static func read(_ answer: OpaquePointer) throws(OCSPFailure) -> OCSPResponse {
        guard unsafe OCSP_SINGLERESP_get_ext_by_critical(answer, 1, -1) < 0 else { throw .criticalExtension }
        var (revoked, this, next):
            (
                UnsafeMutablePointer<ASN1_STRING>?, UnsafeMutablePointer<ASN1_STRING>?,
                UnsafeMutablePointer<ASN1_STRING>?
            )
        let status = unsafe OCSP_single_get0_status(answer, nil, &revoked, &this, &next)
        guard let thisUpdate = try unsafe seconds(this) else { throw .malformed }
        return OCSPResponse(
            status: try unsafe Self.status(status, revocation: seconds(revoked)), thisUpdate: thisUpdate,
            nextUpdate: try unsafe seconds(next))
    }

    private static func status(_ number: Int32, revocation: Int64?) throws(OCSPFailure) -> OCSPResponse.Status {
        switch (number, revocation) {
        case (V_OCSP_CERTSTATUS_GOOD, _): return .good
        case (V_OCSP_CERTSTATUS_REVOKED, let date?): return .revoked(date: date)
        case (V_OCSP_CERTSTATUS_UNKNOWN, _): return .unknown
        default: throw .malformed
        }
    }

    /// - Returns: seconds since 1970; nil if there is no time.
    private static func seconds(_ time: UnsafeMutablePointer<ASN1_STRING>?) throws(OCSPFailure) -> Int64? {
        guard let time = unsafe time else { return nil }
        do throws(OpenSSLError) { return try unsafe CertificateTime.seconds(time) } catch { throw .malformed }
    }

    /// Parses a successful response and returns its basic response.
    private static func parse(_ der: [UInt8]) throws(OCSPFailure) -> OpaquePointer {
        let response = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            return unsafe d2i_OCSP_RESPONSE(nil, &cursor, buffer.count)
        }
        defer {
            unsafe OCSP_RESPONSE_free(response)
            ERR_clear_error()
        }
        guard let response = unsafe response else { throw .unreadable }
        let status = unsafe OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { throw .refused(status: Int(status)) }
        // This fails if the response type is not basic.
        guard let basic = unsafe OCSP_response_get1_basic(response) else { throw .unreadable }
        return unsafe basic
    }

    /// Encodes the whole response with libcrypto. Returns nil if memory runs out.
    private static func encode(_ basic: OpaquePointer) -> [UInt8]? {
        let response = unsafe OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        defer { unsafe OCSP_RESPONSE_free(response) }
        return try? unsafe OCSPEncoding.bytes(after: "i2d_OCSP_RESPONSE") { unsafe i2d_OCSP_RESPONSE(response, &$0) }
    }
}
