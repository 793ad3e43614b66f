import COpenSSL

// The checks of a single certificate, except its signature.
extension X509Certificate {
    /// - Parameter role: the place in the chain. It determines some checks and appears in errors.
    func check(as role: CertificateRole, at seconds: Int64, allowsSHA1: Bool) throws(ChainError) {
        try checkValidity(as: role, at: seconds)
        guard hasNamedCurve else { throw .explicitCurve(role) }
        guard hasStrongKey else { throw .weakKey(role) }
        // The root is trusted regardless of its signature. Apple's first root is signed with SHA-1.
        guard role == .root || hasStrongSignature(allowsSHA1: allowsSHA1) else { throw .weakSignature(role) }
        guard !hasExtension(Self.nameConstraints) else { throw .nameConstraints(role) }
        guard hasOnlyKnownCriticalExtensions else { throw .criticalExtension(role) }
        switch role {
        case .leaf:
            // The flag marks any CA, even one that may not sign certificates. X509_check_ca also finds certificates
            // that may sign others without being marked as a CA.
            let saysCA = unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_CA) != 0
            guard !saysCA, unsafe X509_check_ca(pointer) == 0 else { throw .leafIsCA }
            guard unsafe X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0 else { throw .leafMayNotSign }
        case .intermediate, .root:
            guard isCA else { throw .notCA(role) }
        }
    }

    /// Checks the validity period, which includes both of its ends (RFC 5280 section 4.1.2.5).
    package func checkValidity(as role: CertificateRole, at seconds: Int64) throws(ChainError) {
        guard notBefore <= seconds else { throw .notYetValid(role) }
        guard seconds <= notAfter else { throw .expired(role) }
    }

    /// Returns true if a certificate names this one as its issuer. Does not check the signature.
    package func isNamedIssuer(of certificate: X509Certificate) -> Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(certificate.pointer)) == 0
    }

    /// True if an elliptic-curve key names its curve (RFC 5480 section 2.1.1), and for all other keys.
    ///
    /// libcrypto 3 converts explicit parameters to a named curve if they match one. Only the encoded parameters show
    /// the difference.
    private var hasNamedCurve: Bool {
        var algorithm: UnsafeMutablePointer<X509_ALGOR>?  // belongs to the certificate, like `object`
        guard unsafe X509_PUBKEY_get0_param(nil, nil, nil, &algorithm, X509_get_X509_PUBKEY(pointer)) == 1 else {
            return false
        }
        var object: OpaquePointer?
        var kind: Int32 = 0
        unsafe X509_ALGOR_get0(&object, &kind, nil, algorithm)
        return unsafe OBJ_obj2nid(object) != NID_X9_62_id_ecPublicKey || kind == V_ASN1_OBJECT
    }

    private var hasStrongKey: Bool {
        guard let key = unsafe X509_get0_pubkey(pointer) else { return false }
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 { return unsafe EVP_PKEY_get_bits(key) >= 2048 }
        return unsafe EVP_PKEY_is_a(key, "EC") == 1 && Curve.strong.contains(Curve.name(of: key))
    }

    private func hasStrongSignature(allowsSHA1: Bool) -> Bool {
        let algorithm = unsafe X509_get_signature_nid(pointer)
        return Self.strongSignatures.contains(algorithm) || allowsSHA1 && algorithm == NID_sha1WithRSAEncryption
    }

    private var hasOnlyKnownCriticalExtensions: Bool {
        let count = unsafe X509_get_ext_count(pointer)
        return (0..<max(count, 0)).allSatisfy { index in
            let found = unsafe X509_get_ext(pointer, index)
            guard unsafe X509_EXTENSION_get_critical(found) != 0 else { return true }
            var name = [CChar](repeating: 0, count: 80)
            let length = unsafe OBJ_obj2txt(&name, Int32(name.count), X509_EXTENSION_get_object(found), 1)
            guard length > 0, length < name.count else { return false }
            let oid = String(decoding: name.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
            return Self.knownExtensions.contains(oid)
        }
    }

    private static let strongSignatures = [
        NID_ecdsa_with_SHA256, NID_ecdsa_with_SHA384, NID_ecdsa_with_SHA512,
        NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption, NID_sha512WithRSAEncryption,
    ]

    private static let nameConstraints = "2.5.29.30"

    /// The extensions that may be critical: basic constraints and key usage, which are processed, and Apple's markers,
    /// which the caller requires. Apple's Swift library also accepts critical markers.
    private static let knownExtensions = [
        "2.5.29.19", "2.5.29.15", AppleMarker.receiptSigner, AppleMarker.developerRelations,
    ]
}

/// The extensions with which Apple marks a certificate's purpose. Only their presence counts.
package enum AppleMarker {
    /// The marker of leaf certificates that sign receipts and App Store data.
    package static let receiptSigner = "1.2.840.113635.100.6.11.1"
    /// The marker of the intermediate certificates of Worldwide Developer Relations.
    package static let developerRelations = "1.2.840.113635.100.6.2.1"
}
