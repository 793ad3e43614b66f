import Foundation
import OfferCrypto
import TestSupport
import Testing

@Suite("Hand-made OCSP responses", .serialized)
struct HandmadeResponseTests {
    let authority: OCSPCertificates

    init() async throws { authority = try await onOwnThread { try OCSPCertificates.shared.get() } }

    /// A day on which all certificates are valid.
    private var now: Int64 { get throws { try authority.certificate("delegate").notBefore + 86_400 } }

    private func valid() throws -> HandmadeResponse { HandmadeResponse(from: try now - 10, to: try now + 3600) }

    private func verify(_ der: [UInt8], at time: Int64? = nil) throws -> OCSPResponse {
        try OCSPResponse(
            verifying: der, about: authority.certificate("leaf"), issuedBy: authority.certificate("intermediate"),
            at: time ?? now)
    }

    private func verify(_ response: HandmadeResponse, at time: Int64? = nil) throws -> OCSPResponse {
        try verify(response.der(authority), at: time)
    }

    @Test(
        "a hand-made response is as good as one of openssl",
        arguments: [HandmadeResponse.sha256, HandmadeResponse.sha384, HandmadeResponse.sha512])
    func good(algorithm: (String, [UInt8])) throws {
        var response = try valid()
        response.algorithm = algorithm
        let verified = try verify(response)
        #expect(verified.status == .good)
        #expect(try verified.thisUpdate == now - 10)
        #expect(try verified.goodUntil == now + 3600)
    }

    @Test("SHA-1 with ECDSA is refused")
    func sha1() throws {
        var response = try valid()
        response.algorithm = HandmadeResponse.sha1
        #expect(throws: OCSPFailure.weakSignature) { try verify(response) }
    }

    @Test("a delegate counts from a minute before its validity to a minute after it")
    func delegateValidity() throws {
        let delegate = try authority.certificate("delegate")
        func check(at time: Int64) throws {
            var response = HandmadeResponse(from: time, to: time + 3600)
            (response.signer, response.certificates) = ("delegate", ["delegate"])
            _ = try verify(response, at: time)
        }
        #expect(throws: Never.self) { try check(at: delegate.notBefore - 60) }
        #expect(throws: OCSPFailure.delegate(.notValidNow)) { try check(at: delegate.notBefore - 61) }
        #expect(throws: Never.self) { try check(at: delegate.notAfter + 60) }
        #expect(throws: OCSPFailure.delegate(.notValidNow)) { try check(at: delegate.notAfter + 61) }
    }

    @Test("up to eight certificates are searched for the delegate")
    func certificateCount() throws {
        var response = try valid()
        response.signer = "delegate"
        response.certificates = Array(repeating: "sibling", count: 7) + ["delegate"]
        #expect(throws: Never.self) { try verify(response) }
        response.certificates.insert("sibling", at: 0)
        #expect(throws: OCSPFailure.tooManyCertificates) { try verify(response) }
    }

    @Test("a good delegate is found behind an unfit certificate with the same name")
    func secondCandidate() throws {
        let request = try authority.request(about: "leaf", issuedBy: "intermediate")
        // The responder is named by subject, and all these subjects are equal.
        for others in ["forged", "no-usage", "delegate"] {
            try authority.openssl(["x509", "-in", "\(others).pem", "-out", "others.pem"])
            let der = try authority.response(
                to: request, index: authority.index(good: [2]), signer: "delegate", options: ["-rother", "others.pem"])
            #expect(try verify(der, at: .now).status == .good)
        }
    }

    @Test("a response in the name of the issuer with another's signature is refused")
    func signedByAnother() throws {
        var response = try valid()
        (response.signer, response.responder, response.certificates) = ("delegate", "intermediate", ["delegate"])
        #expect(throws: OCSPFailure.badSignature) { try verify(response) }
        (response.signer, response.responder) = ("intermediate", "delegate")
        #expect(throws: OCSPFailure.badSignature) { try verify(response) }
    }

    @Test(
        "a certificate with the same serial number below another issuer is another certificate",
        arguments: ["-sha1", "-sha256"])
    func sameSerialNumber(digest: String) throws {
        var response = try valid()
        response.answers[0].about = ("cousin", "root", digest)
        #expect(throws: OCSPFailure.otherCertificate) { try verify(response) }
        // The issuer's name alone does not suffice either.
        response.answers[0].about = ("leaf", "impostor", digest)
        #expect(throws: OCSPFailure.otherCertificate) { try verify(response) }
    }

    @Test("two answers about the certificate are refused, even by different digests")
    func ambiguous() throws {
        var response = try valid()
        response.answers.append(response.answers[0])
        #expect(throws: OCSPFailure.ambiguous) { try verify(response) }
        response.answers[1].about.2 = "-sha1"
        #expect(throws: OCSPFailure.ambiguous) { try verify(response) }
    }

    @Test("a response without any answer is refused")
    func noAnswer() throws {
        var response = try valid()
        response.answers = []
        #expect(throws: OCSPFailure.otherCertificate) { try verify(response) }
    }

    @Test("an unknown critical extension of the response is refused, any other ignored", arguments: [true, false])
    func responseExtension(critical: Bool) throws {
        var response = try valid()
        response.extensions = HandmadeResponse.extensions(tag: 0xA1, critical: critical)
        if critical {
            #expect(throws: OCSPFailure.criticalExtension) { try verify(response) }
        } else {
            #expect(try verify(response).status == .good)
        }
    }

    @Test("an unknown critical extension of the answer is refused, any other ignored", arguments: [true, false])
    func answerExtension(critical: Bool) throws {
        var response = try valid()
        response.answers[0].extensions = HandmadeResponse.extensions(tag: 0xA1, critical: critical)
        if critical {
            #expect(throws: OCSPFailure.criticalExtension) { try verify(response) }
        } else {
            #expect(try verify(response).status == .good)
        }
    }

    @Test("an answer that ends before it begins is refused")
    func reversedTimes() throws {
        #expect(throws: OCSPFailure.malformed) { try verify(HandmadeResponse(from: now + 10, to: now - 10)) }
    }

    @Test(
        "an answer with an unreadable time is refused",
        arguments: ["", "20250231000000Z", "20250101", "99999999999999Z", "2025010100000Z"])
    func unreadableTime(text: String) throws {
        var response = try valid()
        response.answers[0].thisUpdate = DER.value(0x18, Array(text.utf8))
        #expect(throws: OCSPFailure.self) { try verify(response) }
        response = try valid()
        response.answers[0].nextUpdate = DER.value(0x18, Array(text.utf8))
        #expect(throws: OCSPFailure.self) { try verify(response) }
    }

    @Test(
        "a responder that refuses to answer is no answer",
        arguments: [
            (1, "malformedRequest"), (2, "internalError"), (3, "tryLater"), (5, "sigRequired"), (6, "unauthorized"),
        ])
    func refusal(status: Int, name: String) throws {
        let failure = OCSPFailure.refused(status: status)
        #expect(throws: failure) { try verify([0x30, 0x03, 0x0A, 0x01, UInt8(status)]) }
        #expect("\(failure)".contains(name))
    }

    @Test("a refusal with a valid answer behind it is no answer")
    func refusalWithAnswer() throws {
        var der = try valid().der(authority)
        let position = try #require(der.indices.first { der[$0...].starts(with: [0x0A, 0x01, 0x00]) })
        der[position + 2] = 3
        #expect(throws: OCSPFailure.refused(status: 3)) { try verify(der) }
    }

    @Test("what is not exactly one successful basic response in DER is refused")
    func unreadable() throws {
        let der = try valid().der(authority)
        let basic = DER.content(
            of: Array(
                DER.content(of: DER.content(of: Array(DER.content(of: der).dropFirst(3)))).dropFirst(11)))
        #expect(HandmadeResponse.wrap(basic) == der)
        let unreadable: [[UInt8]] = [
            [], [0x30, 0x03, 0x0A, 0x01, 0x00],
            HandmadeResponse.wrap(basic + [0]), HandmadeResponse.wrap([]),
            HandmadeResponse.wrap(basic, type: [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x02]),
            // Indefinite length, which BER allows.
            [0x30, 0x80] + DER.content(of: der) + [0, 0],
        ]
        for bytes in unreadable { #expect(throws: OCSPFailure.unreadable) { try verify(bytes) } }
    }

    @Test("a response of more than a megabyte is refused before it is parsed")
    func size() throws {
        #expect(throws: OCSPFailure.tooLarge) { try verify(Array(repeating: 0x30, count: (1 << 20) + 1)) }
        #expect(throws: OCSPFailure.unreadable) { try verify(Array(repeating: 0x30, count: 1 << 20)) }
    }
}

extension Int64 {
    /// Seconds since 1970.
    fileprivate static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
