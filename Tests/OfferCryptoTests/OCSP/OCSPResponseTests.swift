import Foundation
import OfferCrypto
import TestSupport
import Testing

@Suite("Responses of openssl ocsp", .serialized)
struct OCSPResponseTests {
    let authority: OCSPCertificates

    init() async throws { authority = try await onOwnThread { try OCSPCertificates.shared.get() } }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// A response of `openssl ocsp` about the leaf.
    private func response(
        about name: String = "leaf", digest: String = "-sha256", good: [Int] = [2, 3], revoked: [Int] = [],
        signer: String = "intermediate", validity: [String] = ["-nmin", "60"], options: [String] = []
    ) throws -> [UInt8] {
        try authority.response(
            to: authority.request(about: name, issuedBy: "intermediate", digest: digest),
            index: authority.index(good: good, revoked: revoked), signer: signer, validity: validity, options: options)
    }

    private func verify(_ response: [UInt8], at time: Int64? = nil) throws -> OCSPResponse {
        try OCSPResponse(
            verifying: response, about: authority.certificate("leaf"), issuedBy: authority.certificate("intermediate"),
            at: time ?? now)
    }

    @Test("the request is the one that openssl writes, with SHA-256 and without a nonce")
    func request() throws {
        let ours = try OCSPRequest.der(
            about: authority.certificate("leaf"), issuedBy: authority.certificate("intermediate"))
        #expect(try ours == authority.request(about: "leaf", issuedBy: "intermediate", digest: "-sha256"))
    }

    @Test("a certificate that the responder lists as valid is good until the next update")
    func good() throws {
        let verified = try verify(response())
        #expect(verified.status == .good)
        #expect(verified.goodUntil == verified.thisUpdate + 3600)
    }

    @Test("a certificate that the responder lists as revoked is revoked, with the date")
    func revoked() throws {
        let verified = try verify(response(good: [], revoked: [2]))
        #expect(verified.status == .revoked(date: OCSPCertificates.revocationSeconds))
    }

    @Test("a certificate that the responder does not list is unknown")
    func unknown() throws {
        #expect(try verify(response(good: [3])).status == .unknown)
    }

    @Test(
        "the response may name the certificate by any digest from SHA-1 to SHA-512",
        arguments: ["-sha1", "-sha256", "-sha384", "-sha512"])
    func identifierDigest(digest: String) throws {
        #expect(try verify(response(digest: digest)).status == .good)
    }

    @Test("a response that names the certificate by another digest is refused", arguments: ["-md5", "-sha224"])
    func foreignIdentifierDigest(digest: String) throws {
        #expect(throws: OCSPFailure.otherCertificate) { try verify(response(digest: digest)) }
    }

    @Test(
        "the issuer and its delegates may sign with SHA-256, SHA-384 and SHA-512",
        arguments: ["intermediate", "delegate", "rsa"], ["sha256", "sha384", "sha512"])
    func signers(signer: String, digest: String) throws {
        #expect(try verify(response(signer: signer, options: ["-rmd", digest])).status == .good)
    }

    @Test("the response may name its signer by key instead of by name", arguments: ["intermediate", "delegate"])
    func signerByKey(signer: String) throws {
        #expect(try verify(response(signer: signer, options: ["-resp_key_id"])).status == .good)
    }

    @Test("a signature over another digest is refused", arguments: ["intermediate", "rsa"], ["sha1", "sha224"])
    func weakSignature(signer: String, digest: String) throws {
        #expect(throws: OCSPFailure.weakSignature) {
            try verify(response(signer: signer, options: ["-rmd", digest]))
        }
    }

    @Test("a key under the issuer's name is not the issuer", arguments: [[], ["-resp_no_certs"]])
    func impostor(options: [String]) throws {
        let expected: OCSPFailure = options.isEmpty ? .delegate(.notIssuedByIssuer) : .badSignature
        #expect(throws: expected) { try verify(response(signer: "impostor", options: options)) }
    }

    @Test("a signer that is neither the issuer nor in the response is refused", arguments: ["delegate", "impostor"])
    func unknownSigner(signer: String) throws {
        #expect(throws: OCSPFailure.unknownSigner) {
            try verify(response(signer: signer, options: ["-resp_key_id", "-resp_no_certs"]))
        }
    }

    @Test(
        "a certificate that is no delegation by the issuer is refused",
        arguments: [
            ("no-usage", OCSPDelegateFault.noOCSPSigning), ("other-usage", .noOCSPSigning),
            ("any-usage", .noOCSPSigning), ("not-for-signatures", .noDigitalSignature),
            ("unknown-critical", .criticalExtension), ("sha1", .weakSignature), ("foreign", .notIssuedByIssuer),
            ("forged", .notIssuedByIssuer), ("misnamed", .notIssuedByIssuer), ("root", .notIssuedByIssuer),
            ("leaf", .noOCSPSigning),
        ])
    func delegates(signer: String, fault: OCSPDelegateFault) throws {
        #expect(throws: OCSPFailure.delegate(fault)) { try verify(response(signer: signer)) }
    }

    @Test("a response about another certificate of the issuer is refused")
    func otherCertificate() throws {
        #expect(throws: OCSPFailure.otherCertificate) { try verify(response(about: "sibling")) }
    }

    @Test("a response with a wrong signature is refused", arguments: ["intermediate", "delegate", "rsa"])
    func badSignature(signer: String) throws {
        #expect(throws: OCSPFailure.badSignature) { try verify(response(signer: signer, options: ["-badsig"])) }
    }

    @Test("a response with an answer about another certificate beside it counts")
    func severalCertificates() throws {
        let (issuer, leaf, sibling) = ("intermediate.pem", "leaf.pem", "sibling.pem")
        try authority.openssl([
            "ocsp", "-issuer", issuer, "-cert", sibling, "-cert", leaf, "-no_nonce", "-reqout", "several",
        ])
        let request = [UInt8](try Data(contentsOf: URL(filePath: authority.path("several"))))
        let der = try authority.response(to: request, index: authority.index(good: [2], revoked: [3]))
        #expect(try verify(der).status == .good)
    }

    @Test("a response whose clock differs by up to a minute counts")
    func clockSkew() throws {
        let der = try response()
        let verified = try verify(der)
        #expect(throws: Never.self) { try verify(der, at: verified.thisUpdate - 60) }
        #expect(throws: OCSPFailure.notYetValid) { try verify(der, at: verified.thisUpdate - 61) }
        #expect(throws: Never.self) { try verify(der, at: verified.goodUntil + 60) }
        #expect(throws: OCSPFailure.late) { try verify(der, at: verified.goodUntil + 61) }
    }

    @Test("a late answer does not count even if it says revoked")
    func lateRevocation() throws {
        let der = try response(good: [], revoked: [2])
        #expect(throws: OCSPFailure.late) { try verify(der, at: now + 7200) }
    }

    @Test("a response without a next update counts only while it is new")
    func noNextUpdate() throws {
        let der = try response(validity: [])
        let verified = try verify(der)
        #expect(verified.goodUntil == verified.thisUpdate)
        #expect(throws: Never.self) { try verify(der, at: verified.thisUpdate + 60) }
        #expect(throws: OCSPFailure.late) { try verify(der, at: verified.thisUpdate + 61) }
    }

    @Test("a response changed at any one byte is refused", arguments: ["intermediate", "delegate", "rsa"])
    func tampering(signer: String) throws {
        let options = signer == "intermediate" ? ["-resp_no_certs"] : []
        let der = try response(signer: signer, options: options)
        let (leaf, intermediate) = (try authority.certificate("leaf"), try authority.certificate("intermediate"))
        let now = now
        for (index, change) in der.indices.flatMap({ index in [0x01, 0x80, 0xFF].map { (index, $0 as UInt8) } }) {
            var changed = der
            changed[index] ^= change
            #expect(throws: OCSPFailure.self, "byte \(index) of \(der.count) changed by \(change)") {
                try OCSPResponse(verifying: changed, about: leaf, issuedBy: intermediate, at: now)
            }
        }
    }

    @Test("a response cut off anywhere, and one with bytes behind it, is refused")
    func truncation() throws {
        let der = try response()
        for count in der.indices {
            #expect(throws: OCSPFailure.unreadable, "\(count) bytes") { try verify(Array(der.prefix(count))) }
        }
        #expect(throws: OCSPFailure.unreadable) { try verify(der + [0]) }
        #expect(throws: OCSPFailure.unreadable) { try verify(der + der) }
    }
}
