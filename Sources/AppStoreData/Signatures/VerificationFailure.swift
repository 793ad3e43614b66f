package import OfferCrypto

/// The reason that data is not trusted to come from Apple. It never quotes the data.
package struct VerificationFailure: Error, Hashable, Sendable {
    /// A stable name of the failed check, for programs.
    package let code: Code
    /// A human-readable sentence.
    package let sentence: String

    /// - Parameter certificate: the role of the certificate that failed the check.
    package init(_ code: Code, _ certificate: CertificateRole? = nil) {
        self.code = code
        sentence = code.sentence(about: certificate.map { "The \($0.rawValue) certificate" } ?? "A certificate")
    }
}

extension VerificationFailure: CustomStringConvertible {
    package var description: String { "\(code.rawValue): \(sentence)" }
}

extension VerificationFailure {
    /// The checks, in approximately the order in which they are made.
    package enum Code: String, CaseIterable, Hashable, Sendable {
        case jwsTooLarge = "jws_too_large"
        case jwsNotThreeParts = "jws_not_three_parts"
        case jwsNotBase64URL = "jws_not_base64url"
        case headerNotJSON = "header_not_json"
        case algorithmNotES256 = "algorithm_not_es256"
        case headerCritical = "header_critical"
        case certificatesMissing = "certificates_missing"
        case certificateCount = "certificate_count"
        case certificateNotBase64 = "certificate_not_base64"
        case certificateUnreadable = "certificate_unreadable"
        case payloadNotJSON = "payload_not_json"
        case payloadDate = "payload_date"
        case signatureMalformed = "signature_malformed"
        case certificateRevoked = "certificate_revoked"
        case revocationUnknown = "revocation_unknown"
        case certificateNotYetValid = "certificate_not_yet_valid"
        case certificateExpired = "certificate_expired"
        case certificateExplicitCurve = "certificate_explicit_curve"
        case certificateWeakKey = "certificate_weak_key"
        case certificateWeakSignature = "certificate_weak_signature"
        case certificateNameConstraints = "certificate_name_constraints"
        case certificateCriticalExtension = "certificate_critical_extension"
        case leafIsCA = "leaf_is_ca"
        case leafMayNotSign = "leaf_may_not_sign"
        case certificateNotCA = "certificate_not_ca"
        case certificateMarkerMissing = "certificate_marker_missing"
        case leafKeyNotP256 = "leaf_key_not_p256"
        case pathLengthExceeded = "path_length_exceeded"
        case leafNotIssuedByIntermediate = "leaf_not_issued_by_intermediate"
        case rootNotTrusted = "root_not_trusted"
        case certificateSignatureInvalid = "certificate_signature_invalid"
        case chainRefused = "chain_refused"
        case signatureInvalid = "signature_invalid"
        case signedInFuture = "signed_in_future"
        case signedTooLongAgo = "signed_too_long_ago"
        case verificationUnavailable = "verification_unavailable"
        case receiptTooLarge = "receipt_too_large"
        case receiptTooComplex = "receipt_too_complex"
        case receiptNotSignedData = "receipt_not_signed_data"
        case receiptTrailingBytes = "receipt_trailing_bytes"
        case receiptContentType = "receipt_content_type"
        case receiptDetached = "receipt_detached"
        case receiptSignerCount = "receipt_signer_count"
        case receiptCertificateCount = "receipt_certificate_count"
        case receiptSignerCertificate = "receipt_signer_certificate"
        case receiptSignerKey = "receipt_signer_key"
        case receiptAlgorithm = "receipt_algorithm"
        case receiptSignedAttributes = "receipt_signed_attributes"
        case intermediateMissing = "intermediate_missing"
    }
}

extension VerificationFailure.Code {
    /// True if the same data may be verified later.
    package var isRetryable: Bool { [.verificationUnavailable, .revocationUnknown, .signedInFuture].contains(self) }

    /// - Parameter certificate: the certificate that failed the check, such as `The leaf certificate`.
    fileprivate func sentence(about certificate: String) -> String {
        switch self {
        case .jwsTooLarge: "The JWS is larger than \(SignedJWS.maximumSize) bytes."
        case .jwsNotThreeParts: "A JWS in compact form has three parts, separated by dots."
        case .jwsNotBase64URL: "A part of the JWS is not base64url without padding."
        case .headerNotJSON: "The header of the JWS is not a JSON object, or two of its members share a name."
        case .algorithmNotES256: "The header's \"alg\" is not ES256, the only algorithm Apple signs with."
        case .headerCritical: "The header has \"crit\", which requires extensions that this service does not support."
        case .certificatesMissing: "The header's \"x5c\" is missing or is not an array of strings."
        case .certificateCount: "The header's \"x5c\" does not contain exactly three certificates."
        case .certificateNotBase64: "\(certificate) is not standard base64 with padding."
        case .certificateUnreadable: "\(certificate) is not an X.509 certificate in DER, or is too large."
        case .payloadNotJSON: "The payload of the JWS is not a JSON object, or two of its members share a name."
        case .payloadDate: "The payload's date of signing is not a number of milliseconds."
        case .signatureMalformed: "The signature is not 64 bytes with r and s below the order of P-256 and above zero."
        case .certificateRevoked: "\(certificate) has been revoked by its issuer."
        case .revocationUnknown:
            "\(certificate) may be revoked: no OCSP responder has confirmed that it is not. Retry later."
        case .certificateNotYetValid: "\(certificate) was not yet valid at the effective date."
        case .certificateExpired: "\(certificate) had expired at the effective date."
        case .certificateExplicitCurve: "\(certificate) spells its curve out instead of naming it (CVE-2020-0601)."
        case .certificateWeakKey: "\(certificate) has a key that is too weak or of an unknown kind."
        case .certificateWeakSignature: "\(certificate) is signed with an algorithm not accepted here, such as SHA-1."
        case .certificateNameConstraints: "\(certificate) has name constraints, which Apple's certificates do not have."
        case .certificateCriticalExtension:
            "\(certificate) has a critical extension that this service does not support."
        case .leafIsCA: "The leaf certificate belongs to a certificate authority."
        case .leafMayNotSign: "The leaf certificate's key usage does not include digital signatures."
        case .certificateNotCA: "\(certificate) does not belong to a certificate authority."
        case .certificateMarkerMissing: "\(certificate) lacks Apple's marker for App Store data."
        case .leafKeyNotP256: "The leaf certificate's key is not on the curve P-256."
        case .pathLengthExceeded: "A certificate authority in the chain allows fewer certificates below it."
        case .leafNotIssuedByIntermediate: "The intermediate certificate did not issue the leaf certificate."
        case .rootNotTrusted: "No trusted root issued the intermediate certificate."
        case .certificateSignatureInvalid: "\(certificate) has an invalid signature."
        case .chainRefused: "The chain of certificates violates a rule of X.509."
        case .signatureInvalid: "The signature over this data does not verify with the leaf certificate's key."
        case .signedTooLongAgo: "The data was signed too long ago to be accepted."
        case .signedInFuture: "The data was signed later than this machine's clock shows. Check the clock."
        case .verificationUnavailable: "The data could not be verified now. Try again later."
        case .receiptTooLarge: "The receipt is larger than \(SignedMessage.maximumSize) bytes."
        case .receiptTooComplex: "The receipt has too many elements, or they are nested too deeply."
        case .receiptNotSignedData: "The receipt is not CMS SignedData in BER or DER, or it is cut off."
        case .receiptTrailingBytes: "Bytes follow the receipt."
        case .receiptContentType: "The content of the receipt is not of the type data."
        case .receiptDetached: "The receipt does not contain the content that it signs."
        case .receiptSignerCount: "The receipt does not have exactly one signer."
        case .receiptCertificateCount:
            "The receipt contains more than \(SignedMessage.maximumCertificates) certificates."
        case .receiptSignerCertificate:
            "The receipt does not contain exactly one certificate with the signer's issuer and serial number."
        case .receiptSignerKey: "The signer's key is not an RSA key of 2048 to 4096 bits."
        case .receiptAlgorithm: "The receipt is not signed with RSA and SHA-256 or SHA-1."
        case .receiptSignedAttributes: "The receipt's signed attributes do not name the content type data exactly once."
        case .intermediateMissing: "The receipt does not contain the certificate that issued the leaf certificate."
        }
    }
}

extension VerificationFailure {
    /// The argument label avoids ambiguity, because both types have `.leafIsCA` and other cases of the same name.
    package init(chain error: ChainError) {
        switch error {
        case .notYetValid(let role): self.init(.certificateNotYetValid, role)
        case .expired(let role): self.init(.certificateExpired, role)
        case .explicitCurve(let role): self.init(.certificateExplicitCurve, role)
        case .weakKey(let role): self.init(.certificateWeakKey, role)
        case .weakSignature(let role): self.init(.certificateWeakSignature, role)
        case .criticalExtension(let role): self.init(.certificateCriticalExtension, role)
        case .nameConstraints(let role): self.init(.certificateNameConstraints, role)
        case .leafIsCA: self.init(.leafIsCA)
        case .leafMayNotSign: self.init(.leafMayNotSign)
        case .notCA(let role): self.init(.certificateNotCA, role)
        case .pathLength: self.init(.pathLengthExceeded)
        case .notIssuedByIntermediate: self.init(.leafNotIssuedByIntermediate)
        case .noTrustedRoot: self.init(.rootNotTrusted)
        case .badSignature(let role): self.init(.certificateSignatureInvalid, role)
        case .refused: self.init(.chainRefused)
        case .failed: self.init(.verificationUnavailable)
        }
    }
}
