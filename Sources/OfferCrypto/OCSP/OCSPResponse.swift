/// A verified answer from an OCSP responder about one certificate (RFC 6960).
///
/// The checks use individual functions of libcrypto. `OCSP_basic_verify` compares a delegate's issuer with the names in
/// the response instead of with the known issuer, needs a certificate store, and accepts any digest.
package struct OCSPResponse: Hashable, Sendable {
    package enum Status: Hashable, Sendable {
        case good
        /// - Parameter date: seconds since 1970.
        case revoked(date: Int64)
        /// The responder does not know the certificate.
        case unknown
    }

    package let status: Status
    /// The time at which the status was known to be correct, in seconds since 1970.
    package let thisUpdate: Int64
    /// The time until which the answer may be used, in seconds since 1970. The responder promises a new answer by then.
    /// If the responder does not, this time is ``thisUpdate``.
    package let goodUntil: Int64

    /// The maximum size in bytes. Apple's Swift library has the same limit.
    package static let maximumSize = 1 << 20
    /// The maximum number of certificates in a response. A response usually has one: the delegate's.
    package static let maximumCertificates = 8
    /// The permitted difference between the responder's clock and ours, in seconds. Apple's Node library allows the
    /// same difference.
    package static let clockSkew: Int64 = 60

    /// Reads and verifies a response.
    /// - Parameters:
    ///   - der: the response in DER, without trailing bytes.
    ///   - certificate: the certificate that the request was about.
    ///   - issuer: the certificate that signed `certificate`. The caller has verified both.
    ///   - now: seconds since 1970.
    package init(
        verifying der: [UInt8], about certificate: X509Certificate, issuedBy issuer: X509Certificate, at now: Int64
    ) throws(OCSPFailure) {
        guard der.count <= Self.maximumSize else { throw .tooLarge }
        let message = try OCSPMessage(der: der)
        try Self.verifySigner(of: message, issuer: issuer, at: now)
        guard !message.hasCriticalExtension else { throw .criticalExtension }
        self = try message.answer(about: certificate, issuedBy: issuer)
        guard thisUpdate <= goodUntil else { throw .malformed }
        guard thisUpdate <= now + Self.clockSkew else { throw .notYetValid }
        guard now - Self.clockSkew <= goodUntil else { throw .late }
    }

    init(status: Status, thisUpdate: Int64, nextUpdate: Int64?) {
        self.status = status
        self.thisUpdate = thisUpdate
        goodUntil = nextUpdate ?? thisUpdate
    }

    /// Checks that the issuer itself or a delegate of the issuer signed the response.
    private static func verifySigner(
        of message: borrowing OCSPMessage, issuer: X509Certificate, at now: Int64
    ) throws(OCSPFailure) {
        guard message.usesStrongSignature else { throw .weakSignature }
        let namesIssuer = message.names(issuer)
        if namesIssuer, message.isSigned(by: issuer) { return }
        var failure = namesIssuer ? OCSPFailure.badSignature : .unknownSigner
        for delegate in try message.certificates() where message.names(delegate) && delegate.digest != issuer.digest {
            if let fault = OCSPDelegate.fault(of: delegate, issuer: issuer, at: now) {
                failure = .delegate(fault)
            } else if message.isSigned(by: delegate) {
                return
            } else {
                failure = .badSignature
            }
        }
        throw failure
    }
}
