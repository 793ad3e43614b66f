import COpenSSL

/// A verifier of chains with exactly three certificates: leaf, intermediate, and a root that the caller trusts.
///
/// libcrypto verifies signatures, names and path lengths (RFC 5280 section 6). It trusts only the given roots: it uses
/// no system store and fetches nothing.
package enum CertificateChain {
    /// - Parameters:
    ///   - roots: the trusted roots. A root that is not self-signed is never trusted.
    ///   - seconds: the time at which all three certificates must be valid, in seconds since 1970.
    ///   - allowsSHA1: true if RSA with SHA-1 may sign the leaf and the intermediate, as in old receipts.
    /// - Returns: the root that issued the intermediate.
    package static func verify(
        leaf: X509Certificate, intermediate: X509Certificate, roots: [X509Certificate], at seconds: Int64,
        allowsSHA1: Bool = false
    ) throws(ChainError) -> X509Certificate {
        try leaf.check(as: .leaf, at: seconds, allowsSHA1: allowsSHA1)
        try intermediate.check(as: .intermediate, at: seconds, allowsSHA1: allowsSHA1)
        guard intermediate.isNamedIssuer(of: leaf) else { throw .notIssuedByIntermediate }
        // Roots may share a name, as an old root and its successor do. libcrypto would try only one of them.
        var firstError: ChainError?
        for root in roots where root.isNamedIssuer(of: intermediate) {
            do throws(ChainError) {
                try root.check(as: .root, at: seconds, allowsSHA1: allowsSHA1)
                try verify(leaf, intermediate, below: root, allowsSHA1: allowsSHA1)
                return root
            } catch { firstError = firstError ?? error }
        }
        throw firstError ?? .noTrustedRoot
    }

    /// Verifies a leaf below an intermediate whose signature by `root` was verified before. That verification is not
    /// repeated.
    /// - Parameters:
    ///   - seconds: the time at which all three certificates must be valid, in seconds since 1970.
    ///   - allowsSHA1: true if RSA with SHA-1 may sign the leaf and the intermediate.
    package static func verify(
        leaf: X509Certificate, verifiedIntermediate intermediate: X509Certificate, root: X509Certificate,
        at seconds: Int64, allowsSHA1: Bool = false
    ) throws(ChainError) {
        try leaf.check(as: .leaf, at: seconds, allowsSHA1: allowsSHA1)
        try intermediate.check(as: .intermediate, at: seconds, allowsSHA1: allowsSHA1)
        guard intermediate.isNamedIssuer(of: leaf) else { throw .notIssuedByIntermediate }
        try root.check(as: .root, at: seconds, allowsSHA1: allowsSHA1)
        try verify(leaf, nil, below: intermediate, allowsSHA1: allowsSHA1)
    }

    /// - Parameters:
    ///   - intermediate: the certificate between leaf and anchor; nil if the anchor issued the leaf.
    ///   - anchor: a certificate that is trusted regardless of its issuer.
    private static func verify(
        _ leaf: X509Certificate, _ intermediate: X509Certificate?, below anchor: X509Certificate, allowsSHA1: Bool
    ) throws(ChainError) {
        ERR_clear_error()
        let (store, context) = unsafe (X509_STORE_new(), X509_STORE_CTX_new())
        let untrusted = unsafe OPENSSL_sk_new_null()
        defer {
            unsafe X509_STORE_CTX_free(context)
            unsafe X509_STORE_free(store)
            // The stack does not own the certificate in it.
            unsafe OPENSSL_sk_free(untrusted)
        }
        guard unsafe store != nil, unsafe context != nil, unsafe untrusted != nil,
            unsafe X509_STORE_add_cert(store, anchor.pointer) == 1,
            intermediate.map({ unsafe OPENSSL_sk_push(untrusted, UnsafeRawPointer($0.pointer)) }) ?? 1 == 1,
            unsafe X509_STORE_CTX_init(context, store, leaf.pointer, untrusted) == 1,
            unsafe configure(
                X509_STORE_CTX_get0_param(context), anchorIsRoot: intermediate != nil, allowsSHA1: allowsSHA1)
        else { throw .failed(.draining(after: "X509_STORE_CTX_init")) }
        // 1 means verified, 0 means refused, and a negative number means that libcrypto failed.
        guard unsafe X509_verify_cert(context) == 1 else { throw unsafe refusal(by: context) }
        // The root may have issued the leaf itself, and the intermediate may merely share the root's name.
        guard unsafe OPENSSL_sk_num(X509_STORE_CTX_get0_chain(context)) == (intermediate == nil ? 2 : 3) else {
            throw .noTrustedRoot
        }
    }

    private static func configure(_ parameters: OpaquePointer?, anchorIsRoot: Bool, allowsSHA1: Bool) -> Bool {
        // Level 2 requires 112 bits of security, which SHA-256 and RSA keys of 2048 bits provide. SHA-1 needs level 0.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, allowsSHA1 ? 0 : 2)
        // X509Certificate.check(as:at:allowsSHA1:) has already checked critical extensions and times. libcrypto does
        // not know Apple's markers, and refuses the last second of the validity period, which RFC 5280 section 4.1.2.5
        // includes.
        var flags = X509_V_FLAG_IGNORE_CRITICAL | X509_V_FLAG_NO_CHECK_TIME
        if !anchorIsRoot { flags |= X509_V_FLAG_PARTIAL_CHAIN }
        return unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)) == 1
            && X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY) == 1
    }

    private static func refusal(by context: OpaquePointer?) -> ChainError {
        defer { ERR_clear_error() }
        let code = unsafe X509_STORE_CTX_get_error(context)
        let depth = unsafe X509_STORE_CTX_get_error_depth(context)
        switch code {
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: return .badSignature(depth == 0 ? .leaf : .intermediate)
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return depth == 0 ? .notIssuedByIntermediate : .noTrustedRoot
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_CERT_CHAIN_TOO_LONG:
            return .noTrustedRoot
        case X509_V_ERR_PATH_LENGTH_EXCEEDED: return .pathLength
        case X509_V_ERR_OUT_OF_MEM, X509_V_ERR_UNSPECIFIED: return .failed(.draining(after: "X509_verify_cert"))
        default: return .refused(unsafe String(cString: X509_verify_cert_error_string(Int(code))))
        }
    }
}
