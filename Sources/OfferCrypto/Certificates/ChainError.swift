/// The place of a certificate in a chain of three.
package enum CertificateRole: String, CaseIterable, Hashable, Sendable {
    case leaf
    case intermediate
    case root
}

/// The reason that a chain is refused.
package enum ChainError: Error, Hashable, Sendable {
    case notYetValid(CertificateRole)
    case expired(CertificateRole)
    /// The key's curve is given by explicit parameters, so it may have another base point (CVE-2020-0601).
    case explicitCurve(CertificateRole)
    /// The key is neither RSA with 2048 bits or more nor ECDSA on P-256, P-384 or P-521.
    case weakKey(CertificateRole)
    /// The certificate is signed with SHA-1, which is not allowed here, or with an algorithm that we never accept.
    case weakSignature(CertificateRole)
    /// The certificate has a critical extension that we do not process.
    case criticalExtension(CertificateRole)
    case nameConstraints(CertificateRole)
    case leafIsCA
    /// The leaf's key usage does not include signatures.
    case leafMayNotSign
    case notCA(CertificateRole)
    /// The chain has more CAs below another CA than that CA's path length allows.
    case pathLength
    /// The intermediate's subject or key identifier differs from the issuer named by the leaf.
    case notIssuedByIntermediate
    /// No trusted root issued the intermediate.
    case noTrustedRoot
    /// The signature on this certificate is invalid.
    case badSignature(CertificateRole)
    /// Any other refusal by libcrypto, in libcrypto's words.
    case refused(String)
    /// libcrypto failed, for example because memory ran out.
    case failed(OpenSSLError)
}
