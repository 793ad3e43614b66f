import OfferCrypto
import TestSupport

/// An OCSP responder that answers in this process with a certificate authority's own key (RFC 6960 section 4.2.1).
///
/// Its answers are as old as a test says, so nothing depends on how long they take to make.
struct TestResponder: Sendable {
    enum Status: Sendable {
        case good
        /// - Parameter date: seconds since 1970.
        case revoked(date: Int64)
        case unknown
    }

    /// The common name of the authority.
    let name: String
    let key: TestKey
    /// The authority's certificate in DER, which is part of the response.
    let certificate: [UInt8]

    /// Answers a request about one certificate.
    /// - Parameters:
    ///   - thisUpdate: seconds since 1970.
    ///   - nextUpdate: likewise; nil for none.
    func response(
        to request: [UInt8], _ status: Status, from thisUpdate: Int64, until nextUpdate: Int64?
    ) throws -> [UInt8] {
        // OCSPRequest, TBSRequest, requestList, Request: each contains the next, and the last contains the CertID.
        let identifier = (0..<4).reduce(request) { der, _ in DER.content(of: der) }
        let time = DER.generalizedTime(thisUpdate)
        let answer = DER.sequence(
            identifier, status.der, time, nextUpdate.map { DER.value(0xA0, DER.generalizedTime($0)) } ?? [])
        let data = DER.sequence(DER.value(0xA1, TestCertificate.name(name)), time, DER.sequence(answer))
        let basic = DER.sequence(
            data, try TestCertificate.algorithm("sha256", isRSA: key.isRSA), DER.bitString(try key.sign(data)),
            DER.value(0xA0, DER.sequence(certificate)))
        let bytes = DER.sequence(DER.oid("1.3.6.1.5.5.7.48.1.1"), DER.octetString(basic))
        return DER.sequence([0x0A, 0x01, 0x00], DER.value(0xA0, bytes))
    }
}

extension TestResponder.Status {
    fileprivate var der: [UInt8] {
        switch self {
        case .good: [0x80, 0x00]
        case .revoked(let date): DER.value(0xA1, DER.generalizedTime(date))
        case .unknown: [0x82, 0x00]
        }
    }
}

extension TestChain {
    /// The responder of the leaf's issuer.
    var leafResponder: TestResponder {
        TestResponder(name: "Test Developer Relations CA", key: intermediateKey, certificate: intermediate)
    }

    /// The responder of the intermediate's issuer.
    var intermediateResponder: TestResponder { TestResponder(name: "Test Root CA", key: rootKey, certificate: root) }
}
