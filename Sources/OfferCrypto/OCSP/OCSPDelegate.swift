import COpenSSL

/// The rules for a certificate with which an issuer delegates OCSP responses to another key (RFC 6960 section 4.2.2.2).
///
/// The delegate's own revocation is not checked. RFC 6960 section 4.2.2.2.1 leaves that to the client, and Apple's
/// libraries do not check it either.
enum OCSPDelegate {
    /// Returns the first reason that a certificate is not a delegation by `issuer`; nil if the certificate may sign
    /// responses.
    /// - Parameter now: seconds since 1970.
    static func fault(of delegate: X509Certificate, issuer: X509Certificate, at now: Int64) -> OCSPDelegateFault? {
        let flags = unsafe X509_get_extension_flags(delegate.pointer)
        if unsafe !OCSPAlgorithms.isStrong(X509_get_signature_nid(delegate.pointer)) { return .weakSignature }
        if !isIssued(delegate, by: issuer) { return .notIssuedByIssuer }
        // Without the extension, libcrypto reports that the key may be used for everything.
        if flags & UInt32(EXFLAG_XKUSAGE) == 0 || !permitsOCSPSigning(delegate) { return .noOCSPSigning }
        if unsafe X509_get_key_usage(delegate.pointer) & UInt32(KU_DIGITAL_SIGNATURE) == 0 {
            return .noDigitalSignature
        }
        if flags & UInt32(EXFLAG_CRITICAL) != 0 { return .criticalExtension }
        let skew = OCSPResponse.clockSkew
        return delegate.notBefore <= now + skew && now - skew <= delegate.notAfter ? nil : .notValidNow
    }

    /// Returns true if the names, the key identifiers and the signature match the issuer.
    private static func isIssued(_ delegate: X509Certificate, by issuer: X509Certificate) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_issued(issuer.pointer, delegate.pointer) == X509_V_OK
            && X509_verify(delegate.pointer, X509_get0_pubkey(issuer.pointer)) == 1
    }

    private static func permitsOCSPSigning(_ delegate: X509Certificate) -> Bool {
        unsafe X509_get_extended_key_usage(delegate.pointer) & UInt32(XKU_OCSP_SIGN) != 0
    }
}

/// The algorithms that OCSP responses may use.
enum OCSPAlgorithms {
    /// Returns true if a signature algorithm, identified by libcrypto's number, is RSA (PKCS #1 version 1.5) or ECDSA
    /// with SHA-256, SHA-384 or SHA-512.
    static func isStrong(_ signature: Int32) -> Bool {
        switch signature {
        case NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption, NID_sha512WithRSAEncryption,
            NID_ecdsa_with_SHA256, NID_ecdsa_with_SHA384, NID_ecdsa_with_SHA512:
            true
        default: false
        }
    }

    /// Returns the digest that a response uses to name a certificate; nil if it is not supported. SHA-1 suffices here:
    /// the hashes only select the issuer, whose signature covers them, and the serial number is not hashed.
    static func digest(_ number: Int32) -> OpaquePointer? {
        switch number {
        case NID_sha1: unsafe EVP_sha1()
        case NID_sha256: unsafe EVP_sha256()
        case NID_sha384: unsafe EVP_sha384()
        case NID_sha512: unsafe EVP_sha512()
        default: nil
        }
    }
}
