import OfferCore
package import OfferCrypto

/// The reason that a chain of certificates is not trusted, although its signatures are correct.
package enum RevocationFailure: Error, Hashable, Sendable {
    /// The issuer has revoked a certificate. This is final.
    /// - Parameter date: seconds since 1970.
    case revoked(CertificateRole, date: Int64)
    /// No responder has reported whether a certificate is revoked. A responder may do so later.
    case unknown(CertificateRole, OCSPProblem)

    /// True if the responder rejects a certificate: the certificate is revoked, or the responder does not know it.
    package var isDenied: Bool {
        switch self {
        case .revoked, .unknown(_, .unknownCertificate): true
        case .unknown: false
        }
    }

    package var isRetryable: Bool {
        switch self {
        case .revoked: false
        case .unknown: true
        }
    }
}

extension RevocationFailure {
    /// Throws unless both certificates are good. A revocation is thrown first, because it is final.
    /// - Parameter leaf: the outcome of the query; nil if the query is open. The same applies to `intermediate`.
    static func throwUnlessGood(leaf: OCSPOutcome?, intermediate: OCSPOutcome?) throws(RevocationFailure) {
        let outcomes: [(CertificateRole, OCSPOutcome?)] = [(.leaf, leaf), (.intermediate, intermediate)]
        for case (let role, .revoked(let date)?) in outcomes { throw .revoked(role, date: date) }
        for (role, outcome) in outcomes {
            switch outcome {
            case .unknown(let problem): throw .unknown(role, problem)
            case nil: throw .unknown(role, .requested)
            case .good, .revoked: continue
            }
        }
    }
}

extension RevocationFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .revoked(let role, _): "The \(role.rawValue) certificate has been revoked by its issuer."
        case .unknown(let role, let problem):
            "It is unknown whether the \(role.rawValue) certificate has been revoked: \(problem)."
        }
    }
}

extension VerificationFailure {
    package init(_ failure: RevocationFailure) {
        switch failure {
        case .revoked(let role, _): self.init(.certificateRevoked, role)
        case .unknown(let role, _): self.init(.revocationUnknown, role)
        }
    }
}

/// The reason that a query about a certificate has no answer.
package enum OCSPProblem: Error, Hashable, Sendable {
    /// The certificate names no responder with a usable HTTP URL.
    case noResponder
    /// libcrypto could not encode the request.
    case request(OpenSSLError)
    /// The transport failed.
    case transport(OCSPTransportFailure)
    /// The responder's HTTP status is not 200.
    case status(Int)
    /// The response is not acceptable.
    case response(OCSPFailure)
    /// The responder does not know the certificate.
    case unknownCertificate
    /// The query is still open.
    case requested
    /// Too many queries are open.
    case overloaded
    /// The checker has been stopped.
    case stopped
}

extension OCSPProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noResponder: "the certificate names no OCSP responder with an HTTP URL"
        case .request(let error): "the request could not be encoded, \(error)"
        case .transport(let failure): failure.reason
        case .status(let status): "the OCSP responder answered with HTTP status \(status)"
        case .response(let failure): "\(failure)"
        case .unknownCertificate: "the OCSP responder does not know it"
        case .requested: "the OCSP responder has not answered yet"
        case .overloaded: "too many OCSP requests are open"
        case .stopped: "the service is stopping"
        }
    }
}

/// A failure to send a query or to receive its response.
package struct OCSPTransportFailure: Error, Hashable, Sendable {
    /// The reason: a phrase without the URL, such as `connection refused`.
    package let reason: String

    package init(_ reason: String) { self.reason = reason.printable }
}
