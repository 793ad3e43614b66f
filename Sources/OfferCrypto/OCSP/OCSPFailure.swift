/// The reason that an OCSP response does not count as an answer. It says nothing about the certificate.
package enum OCSPFailure: Error, Hashable, Sendable {
    /// The response has more than ``OCSPResponse/maximumSize`` bytes.
    case tooLarge
    /// The bytes are not exactly one OCSP response in DER, or a successful response has no basic response.
    case unreadable
    /// The responder did not answer. The number is its `OCSPResponseStatus` (RFC 6960 section 4.2.1).
    case refused(status: Int)
    /// The signature algorithm is not RSA or ECDSA with SHA-256, SHA-384 or SHA-512.
    case weakSignature
    /// The response has more than ``OCSPResponse/maximumCertificates`` certificates.
    case tooManyCertificates
    /// The responder is neither the issuer nor a certificate in the response.
    case unknownSigner
    /// The responder's certificate does not entitle it to answer for the issuer.
    case delegate(OCSPDelegateFault)
    case badSignature
    /// The response has a critical extension, which we do not process.
    case criticalExtension
    /// The response is only about other certificates.
    case otherCertificate
    /// The response has more than one answer about the certificate.
    case ambiguous
    /// A time or the status cannot be read, or the validity ends before it begins.
    case malformed
    /// `thisUpdate` is in the future.
    case notYetValid
    /// `nextUpdate` is in the past, or missing from an answer that is not new.
    case late
}

/// The reason that a responder's certificate is not a delegation by the issuer (RFC 6960 section 4.2.2.2).
package enum OCSPDelegateFault: Hashable, Sendable {
    /// The issuer did not sign the certificate.
    case notIssuedByIssuer
    /// The issuer signed the certificate with SHA-1 or an unsupported algorithm.
    case weakSignature
    /// The certificate lacks the extended key usage for OCSP signing.
    case noOCSPSigning
    /// The key usage excludes signatures.
    case noDigitalSignature
    /// The certificate has a critical extension that libcrypto does not know.
    case criticalExtension
    /// The certificate has expired or is not valid yet.
    case notValidNow
}

extension OCSPFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge: "the response is larger than \(OCSPResponse.maximumSize) bytes"
        case .unreadable: "not an OCSP response in DER"
        case .refused(let status): "the responder refused to answer with status \(Self.name(ofStatus: status))"
        case .weakSignature: "the response's signature does not use SHA-256, SHA-384 or SHA-512"
        case .tooManyCertificates: "the response has more than \(OCSPResponse.maximumCertificates) certificates"
        case .unknownSigner: "the signer of the response is not known"
        case .delegate(let fault): "the responder's certificate \(fault)"
        case .badSignature: "the response's signature is wrong"
        case .criticalExtension: "the response has an unknown critical extension"
        case .otherCertificate: "the response is about another certificate"
        case .ambiguous: "the response has several answers about the certificate"
        case .malformed: "the response has an unreadable time or status"
        case .notYetValid: "the response is not valid yet"
        case .late: "the response has expired"
        }
    }

    private static func name(ofStatus status: Int) -> String {
        switch status {
        case 1: "malformedRequest"
        case 2: "internalError"
        case 3: "tryLater"
        case 5: "sigRequired"
        case 6: "unauthorized"
        default: "\(status)"
        }
    }
}

extension OCSPDelegateFault: CustomStringConvertible {
    /// The fault as a predicate. The certificate is its subject.
    package var description: String {
        switch self {
        case .notIssuedByIssuer: "was not issued by the certificate's issuer"
        case .weakSignature: "is not signed with SHA-256, SHA-384 or SHA-512"
        case .noOCSPSigning: "lacks the extended key usage for OCSP signing"
        case .noDigitalSignature: "does not allow signatures"
        case .criticalExtension: "has an unknown critical extension"
        case .notValidNow: "is not valid now"
        }
    }
}
