import OfferCrypto
import TestSupport
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

@Suite("OCSP checker", .serialized)
struct OCSPCheckerTests {
    private static let both = [RevocationBench.leafURL, RevocationBench.intermediateURL]

    @Test("a chain with two good answers passes, each certificate's own responder being asked")
    func good() async throws {
        let bench = try RevocationBench()
        try await bench.run { checker, chain in try await checker.check(chain) }
        #expect(await bench.responder.urls.sorted() == Self.both)
        #expect(bench.revoked.isEmpty)
    }

    @Test("a revoked leaf is final, and is reported")
    func revokedLeaf() async throws {
        let bench = try RevocationBench.withRevokedLeaf()
        try await bench.run { checker, chain in
            let failure = RevocationBench.leafRevoked
            await #expect(throws: failure) { try await checker.check(chain) }
            #expect(!failure.isRetryable)
            #expect(bench.revoked == [chain.leaf.digest])
            #expect(checker.cachedStatus(chain) == .revoked(failure))
        }
    }

    @Test("a revoked intermediate is final, whatever becomes of the question about the leaf")
    func revokedIntermediate() async throws {
        let bench = try RevocationBench { authority in
            let answer = StubResponder.answering(
                authority, intermediate: .revoked(date: RevocationBench.revocationDate))
            return { url, request in
                guard url == RevocationBench.intermediateURL else { return OCSPReply(status: 500, body: []) }
                return try await answer(url, request)
            }
        }
        try await bench.run { checker, chain in
            await #expect(
                throws: RevocationFailure.revoked(.intermediate, date: RevocationBench.revocationDate)
            ) { try await checker.check(chain) }
            #expect(bench.revoked == [chain.intermediate?.digest])
        }
    }

    @Test("a certificate that its responder does not know may be known later")
    func unknownCertificate() async throws {
        let bench = try RevocationBench { StubResponder.answering($0, leaf: .unknown) }
        try await bench.run { checker, chain in
            let failure = RevocationFailure.unknown(.leaf, .unknownCertificate)
            await #expect(throws: failure) { try await checker.check(chain) }
            #expect(failure.isRetryable)
            await bench.responder.answer(by: StubResponder.answering(bench.authority))
            try await checker.check(chain)
        }
    }

    @Test(
        "an HTTP response that is no OCSP response is no answer",
        arguments: [
            (500, 0, OCSPProblem.status(500)), (404, 10, .status(404)), (302, 10, .status(302)),
            (200, 0, .response(.unreadable)), (200, 10, .response(.unreadable)),
            (200, 2 << 20, .response(.tooLarge)),
        ])
    func httpResponses(status: Int, size: Int, problem: OCSPProblem) async throws {
        let bench = try RevocationBench { _ in StubResponder.replying(status, Array(repeating: 0x30, count: size)) }
        try await bench.run { checker, chain in
            await #expect(throws: RevocationFailure.unknown(.leaf, problem)) { try await checker.check(chain) }
        }
    }

    @Test("a valid answer with an HTTP status other than 200 does not count")
    func statusWithAnswer() async throws {
        let bench = try RevocationBench { authority in
            let answer = StubResponder.answering(authority)
            return { OCSPReply(status: 503, body: try await answer($0, $1).body) }
        }
        try await bench.run { checker, chain in
            await #expect(throws: RevocationFailure.unknown(.leaf, .status(503))) { try await checker.check(chain) }
        }
    }

    @Test("an answer about the intermediate does not serve for the leaf")
    func swappedAnswers() async throws {
        let bench = try RevocationBench()
        let chain = try bench.chain()
        let request = try OCSPRequest.der(about: #require(chain.intermediate), issuedBy: chain.root)
        let body = try bench.authority.intermediateResponder.response(
            to: request, .good, from: TestTime.now, until: nil)
        await bench.responder.answer(by: StubResponder.replying(200, body))
        try await bench.run { checker, chain in
            // The root signed it, and the root is not the leaf's issuer.
            await #expect(
                throws: RevocationFailure.unknown(.leaf, .response(.delegate(.notIssuedByIssuer)))
            ) { try await checker.check(chain) }
        }
    }

    @Test("a failing transport is no answer, and only its own words are repeated")
    func failingTransport() async throws {
        struct Secret: Error {}
        for (error, reason) in [
            (OCSPTransportFailure("connection refused") as any Error, "connection refused"),
            (Secret(), "the OCSP responder could not be reached"),
        ] {
            let bench = try RevocationBench { _ in { _, _ in throw error } }
            try await bench.run { checker, chain in
                await #expect(
                    throws: RevocationFailure.unknown(.leaf, .transport(OCSPTransportFailure(reason)))
                ) { try await checker.check(chain) }
            }
        }
    }

    @Test(
        "a certificate without an HTTP responder is never asked about",
        arguments: [nil, TestCertificate.Extension.ocspResponders("https://ocsp.intermediate.test/leaf")])
    func noResponder(leafExtension: TestCertificate.Extension?) async throws {
        let bench = try RevocationBench(leafExtension: leafExtension)
        try await bench.run { checker, chain in
            await #expect(throws: RevocationFailure.unknown(.leaf, .noResponder)) { try await checker.check(chain) }
            #expect(await bench.responder.urls == [RevocationBench.intermediateURL])
        }
    }

    @Test("the first HTTP responder is asked")
    func severalResponders() async throws {
        let bench = try RevocationBench(
            leafExtension: .ocspResponders("ldap://ocsp.intermediate.test/leaf", RevocationBench.leafURL))
        try await bench.run { checker, chain in try await checker.check(chain) }
        #expect(await bench.responder.urls.sorted() == Self.both)
    }

    @Test("nobody is asked about a certificate of Xcode")
    func xcode() async throws {
        let bench = try RevocationBench()
        let certificate = try X509Certificate(der: bench.authority.root)
        let chain = try VerifiedChain(xcode: certificate, roots: TrustedRoots([certificate]))
        try await bench.checker.check(chain)
        #expect(bench.checker.cachedStatus(chain) == .good)
        #expect(await bench.responder.urls.isEmpty)
    }

    @Test("the time counts at which the response arrives")
    func lateArrival() async throws {
        let bench = try RevocationBench()
        let answer = StubResponder.answering(bench.authority)
        await bench.responder.answer { [clock = bench.clock] url, request in
            let reply = try await answer(url, request)
            clock.advance(by: 7200)
            return reply
        }
        try await bench.run { checker, chain in
            await #expect(throws: RevocationFailure.unknown(.leaf, .response(.late))) {
                try await checker.check(chain)
            }
        }
    }

    @Test("a failure has a stable code, a role and a sentence")
    func verificationFailures() {
        let revoked = VerificationFailure(RevocationFailure.revoked(.leaf, date: 0))
        #expect(revoked == VerificationFailure(.certificateRevoked, .leaf))
        #expect(!revoked.code.isRetryable)
        let unknown = VerificationFailure(RevocationFailure.unknown(.intermediate, .noResponder))
        #expect(unknown == VerificationFailure(.revocationUnknown, .intermediate))
        #expect(unknown.code.isRetryable)
        #expect(unknown.code.rawValue == "revocation_unknown")
    }
}
