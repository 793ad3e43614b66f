import OfferCore
import OfferCrypto
import TestSupport
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

@Suite("Remembered OCSP answers", .serialized)
struct OCSPCacheTests {
    @Test("an answer serves until its next update, and then the request is sent again")
    func untilNextUpdate() async throws {
        let bench = try RevocationBench()
        try await bench.run { checker, chain in
            for _ in 0..<3 { try await checker.check(chain) }
            #expect(await bench.responder.urls.count == 2)
            bench.clock.advance(by: 3599)
            try await checker.check(chain)
            #expect(checker.cachedStatus(chain) == .good)
            #expect(await bench.responder.urls.count == 2)
            bench.clock.advance(by: 1)
            #expect(checker.cachedStatus(chain) == .notKnown(.unknown(.leaf, .requested)))
            try? await checker.check(chain)
            #expect(await bench.responder.urls.count == 4)
        }
    }

    @Test("an answer serves for a day at most")
    func maximumAge() async throws {
        let bench = try RevocationBench { StubResponder.answering($0, validity: 3 * 86_400) }
        try await bench.run { checker, chain in
            try await checker.check(chain)
            bench.clock.advance(by: 24 * 3600 - 1)
            try await checker.check(chain)
            #expect(await bench.responder.urls.count == 2)
            bench.clock.advance(by: 1)
            try await checker.check(chain)
            #expect(await bench.responder.urls.count == 4)
        }
    }

    @Test("an answer without a next update serves for a minute, so that not each request asks")
    func noNextUpdate() async throws {
        let bench = try RevocationBench { StubResponder.answering($0, validity: nil) }
        // Later than thisUpdate, but not late: half a minute is within the permitted difference of clocks.
        bench.clock.advance(by: 30)
        try await bench.run { checker, chain in
            try await checker.check(chain)
            bench.clock.advance(by: 59)
            try await checker.check(chain)
            #expect(await bench.responder.urls.count == 2)
            bench.clock.advance(by: 1)
            await #expect(throws: RevocationFailure.self) { try await checker.check(chain) }
            #expect(await bench.responder.urls.count == 4)
        }
    }

    @Test("nobody is asked about a certificate that has expired, but about its issuer")
    func expired() async throws {
        let bench = try RevocationBench(leafEnd: TestTime.now + 100)
        bench.clock.advance(by: 101)
        try await bench.run { checker, chain in
            try await checker.check(chain)
            #expect(checker.cachedStatus(chain) == .good)
            #expect(await bench.responder.urls == [RevocationBench.intermediateURL])
        }
    }

    @Test("a revoked certificate stays revoked, whatever the responder says later")
    func revokedForever() async throws {
        let bench = try RevocationBench.withRevokedLeaf()
        try await bench.run { checker, chain in
            let failure = RevocationBench.leafRevoked
            await #expect(throws: failure) { try await checker.check(chain) }
            await bench.responder.answer(by: StubResponder.answering(bench.authority))
            bench.clock.advance(by: 10 * 365 * 86_400)
            #expect(checker.cachedStatus(chain) == .revoked(failure))
            bench.clock.advance(by: -10 * 365 * 86_400)
            await #expect(throws: failure) { try await checker.check(chain) }
            let leafRequests = await bench.responder.urls.filter { $0 == RevocationBench.leafURL }
            #expect(leafRequests.count == 1)
        }
    }

    @Test("a request that does not wait is told what is known, and the responder is queried behind it")
    func background() async throws {
        let bench = try RevocationBench()
        try await bench.run { checker, chain in
            #expect(checker.cachedStatus(chain) == .notKnown(.unknown(.leaf, .requested)))
            try await waitUntil { checker.cachedStatus(chain) == .good }
            #expect(await bench.responder.urls.count == 2)
        }
    }

    @Test("a certificate found revoked in the background is reported without anyone asking again")
    func revokedInBackground() async throws {
        let bench = try RevocationBench.withRevokedLeaf()
        try await bench.run { checker, chain in
            _ = checker.cachedStatus(chain)
            try await waitUntil { bench.revoked == [chain.leaf.digest] }
        }
    }

    @Test("a chain is dropped from the known chains as soon as it is revoked")
    func knownChains() async throws {
        let bench = try RevocationBench.withRevokedLeaf()
        let known = KnownChains()
        let checker = OCSPChecker(transport: bench.responder.transport, now: { bench.clock.now }) {
            known.revoke($0.identity)
        }
        let chain = try bench.chain()
        #expect(known.remember(chain) == nil)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await checker.run() }
            await #expect(throws: RevocationFailure.self) { try await checker.check(chain) }
            #expect(known.count == 0)
            #expect(known.remember(chain) == .leaf)
            group.cancelAll()
        }
    }

    @Test("a request is sent once, however many need it at the same time")
    func singleFlight() async throws {
        let bench = try RevocationBench()
        await bench.responder.close()
        try await bench.run { checker, chain in
            for _ in 0..<10 { #expect(checker.cachedStatus(chain) == .notKnown(.unknown(.leaf, .requested))) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { try await checker.check(chain) } }
                try await waitUntil { await bench.responder.urls.count >= 2 }
                await bench.responder.open()
                try await group.waitForAll()
            }
            try await checker.check(chain)
        }
        #expect(await bench.responder.urls.count == 2)
    }

    @Test("a failed request is not repeated in the background for a minute, but at once for those who wait")
    func pause() async throws {
        let bench = try RevocationBench { _ in StubResponder.replying(500, []) }
        try await bench.run { checker, chain in
            let failed = RevocationFailure.unknown(.leaf, .status(500))
            await #expect(throws: failed) { try await checker.check(chain) }
            for _ in 0..<3 { #expect(checker.cachedStatus(chain) == .notKnown(failed)) }
            bench.clock.advance(by: 59)
            #expect(checker.cachedStatus(chain) == .notKnown(failed))
            #expect(await bench.responder.urls.count == 2)
            await #expect(throws: failed) { try await checker.check(chain) }
            #expect(await bench.responder.urls.count == 4)
            bench.clock.advance(by: 60)
            #expect(checker.cachedStatus(chain) == .notKnown(.unknown(.leaf, .requested)))
            try await waitUntil { await bench.responder.urls.count == 6 }
        }
    }

    @Test("a failed request is a problem for an hour, or until it is answered")
    func problems() async throws {
        let bench = try RevocationBench { _ in StubResponder.replying(500, []) }
        try await bench.run { checker, chain in
            #expect(checker.problems.isEmpty)
            try? await checker.check(chain)
            #expect(checker.problems.count == 2)
            #expect(
                checker.problems.contains { $0.error.contains("CN=Test Receipt Signing") && $0.error.contains("500") })
            bench.clock.advance(by: 3599)
            #expect(checker.problems.count == 2)
            bench.clock.advance(by: 1)
            #expect(checker.problems.isEmpty)
            bench.clock.advance(by: -3600)
            await bench.responder.answer(by: StubResponder.answering(bench.authority))
            try await checker.check(chain)
            #expect(checker.problems.isEmpty)
        }
    }

    @Test("when the checker stops, those who wait and those who come later are told so")
    func stop() async throws {
        let bench = try RevocationBench()
        let chain = try bench.chain()
        let stopped = RevocationFailure.unknown(.leaf, .stopped)
        await bench.responder.answer { _, _ in
            try await Task.sleep(for: .seconds(3600))
            return OCSPReply(status: 200, body: [])
        }
        await withTaskGroup(of: Void.self) { group in
            let running = Task { await bench.checker.run() }
            group.addTask { await #expect(throws: stopped) { try await bench.checker.check(chain) } }
            try? await waitUntil { await bench.responder.urls.count == 2 }
            running.cancel()
            await running.value
        }
        await #expect(throws: stopped) { try await bench.checker.check(chain) }
        bench.clock.advance(by: 3600)
        await #expect(throws: stopped) { try await bench.checker.check(chain) }
        #expect(bench.checker.cachedStatus(chain) == .notKnown(stopped))
        #expect(await bench.responder.urls.count == 2)
    }

    @Test("a request that is waiting when the checker stops is not sent")
    func stopBeforeRequest() async throws {
        let bench = try RevocationBench()
        let chain = try bench.chain()
        _ = bench.checker.cachedStatus(chain)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { await bench.checker.run() }
        }
        await #expect(throws: RevocationFailure.unknown(.leaf, .stopped)) { try await bench.checker.check(chain) }
        #expect(await bench.responder.urls.isEmpty)
    }

    @Test("a check that begins before the checker runs is answered once it runs")
    func checkBeforeRun() async throws {
        let bench = try RevocationBench()
        let chain = try bench.chain()
        #expect(bench.checker.cachedStatus(chain) == .notKnown(.unknown(.leaf, .requested)))
        try await bench.run { checker, chain in try await checker.check(chain) }
        #expect(await bench.responder.urls.count == 2)
    }

    @Test("a certificate with another issuer is another request")
    func otherIssuer() throws {
        let leaf = try X509Certificate(der: TestChain.standard.get().leaf)
        let ids = try [TestChain.standard.get(), TestChain()].map { chain in
            RevocationRequest(certificate: leaf, issuer: try X509Certificate(der: chain.intermediate)).id
        }
        #expect(ids[0] != ids[1])
    }

    @Test("at most 128 requests are under way")
    func openRequests() {
        var requests = OpenRequests()
        for number in 0..<128 {
            guard case .opened = requests.admit([UInt8(number)], nil, at: 0) else {
                Issue.record("request \(number) was not opened")
                return
            }
        }
        guard case .settled(.unknown(.overloaded)) = requests.admit([200], nil, at: 0) else {
            Issue.record("there is no limit")
            return
        }
        guard case .joined = requests.admit([0], nil, at: 0) else {
            Issue.record("a request under way was not joined")
            return
        }
        _ = requests.close([0])
        guard case .opened = requests.admit([200], nil, at: 0) else {
            Issue.record("a closed request still counts")
            return
        }
    }

    @Test("the memory is bounded: failures go first, then the answers that expire first, and revocations last")
    func bound() throws {
        let leaf = try X509Certificate(der: TestChain.standard.get().leaf)
        // Six certificates as issuers make six requests.
        let requests = try (0..<6).map { _ in
            RevocationRequest(certificate: leaf, issuer: try X509Certificate(der: TestChain().intermediate))
        }
        var memory = OCSPMemory(limit: 3)
        memory.note(.revoked(date: 5), of: requests[0], at: 0)
        memory.note(.unknown(.overloaded), of: requests[1], at: 0)
        memory.note(.good(until: 200), of: requests[2], at: 0)
        memory.note(.good(until: 100), of: requests[3], at: 0)
        #expect(memory.failures(at: 0).isEmpty)
        memory.note(.good(until: 300), of: requests[4], at: 0)
        #expect(memory.answer(to: requests[3].id, at: 0) == nil)
        memory.note(.unknown(.overloaded), of: requests[5], at: 0)
        #expect(memory.answer(to: requests[2].id, at: 0) == nil)
        #expect(memory.failures(at: 0).count == 1)
        #expect(memory.answer(to: requests[4].id, at: 0) == .good(until: 300))
        #expect(memory.answer(to: requests[0].id, at: 0) == .revoked(date: 5))
    }

    @Test(
        "only a plain HTTP URL with a host is asked",
        arguments: [
            ("http://ocsp.apple.com/ocsp03-wwdrg602", true), ("HTTP://ocsp.apple.com", true),
            ("http://ocsp.apple.com:80/a?b=c", true), ("https://ocsp.apple.com/", false),
            ("ftp://ocsp.apple.com", false),
            ("http://", false), ("http:///path", false), ("http://?query", false),
            ("http://user@ocsp.apple.com/", false),
            ("http://ocsp.apple.com/a b", false), ("http://ocsp.apple.com/\r\nHost: x", false), ("", false),
            ("http://ocsp.äpple.com/", false), ("file:///etc/passwd", false),
        ])
    func urls(url: String, isUsable: Bool) {
        #expect(RevocationRequest.isUsable(url) == isUsable)
    }

    @Test("a URL of more than 512 bytes is not asked")
    func longURL() {
        let url = "http://ocsp.apple.com/"
        #expect(RevocationRequest.isUsable(url + String(repeating: "a", count: 512 - url.utf8.count)))
        #expect(!RevocationRequest.isUsable(url + String(repeating: "a", count: 513 - url.utf8.count)))
    }
}
