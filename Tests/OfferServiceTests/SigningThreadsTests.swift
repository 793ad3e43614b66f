import Dispatch
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import TestSupport
import Testing

@testable import OfferConfiguration
@testable import OfferService

/// Keys that sign on threads of their own, as those in tokens do, in every route that signs.
@Suite("Keys with threads")
struct SigningThreadsTests {
    /// One thread, which can be held up. It notes the deadline of each job.
    private final class OneThread: SigningThreads {
        private let queue = DispatchQueue(label: "token")
        private let mark = DispatchSpecificKey<Bool>()
        let deadlines = NIOLockedValueBox<[ContinuousClock.Instant?]>([])

        init() { queue.setSpecific(key: mark, value: true) }

        var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
        var waitingCount: Int { 0 }
        var areStuck: Bool { false }

        func hold() { queue.suspend() }
        func release() { queue.resume() }

        func run<Result: Sendable>(
            until deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () -> Result
        ) async throws(SigningThreadsFault) -> Result {
            deadlines.withLockedValue { $0.append(deadline) }
            return await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: work()) }
            }
        }
    }

    /// A key that counts its signatures. Those on other threads are counted as strays.
    private final class ThreadedKeyPair: SigningKeyPair {
        let key: SigningKey
        let thread = OneThread()
        let counts = NIOLockedValueBox((all: 0, strays: 0))
        /// True to return the signature of another message.
        let isFaulty = NIOLockedValueBox(false)

        init(_ key: SigningKey) { self.key = key }

        var fingerprint: String { key.fingerprint }
        var threads: (any SigningThreads)? { thread }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            counts.withLockedValue { $0 = ($0.all + 1, $0.strays + (thread.isCurrent ? 0 : 1)) }
            return try key.sign(isFaulty.withLockedValue { $0 } ? message + [0] : message)
        }

        func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            try key.verify(signature, of: message)
        }

        func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            try key.verifyOwn(signature, of: message)
        }

        var count: Int { counts.withLockedValue { $0.all } }
        var strays: Int { counts.withLockedValue { $0.strays } }
    }

    private let pair: ThreadedKeyPair

    init() throws { pair = ThreadedKeyPair(try Fixtures.makeSigningKey()) }

    private func service(_ offers: String = "plain, {offerID: keep, rule: retention}") throws -> StoreService {
        let service = try StoreService(offers, app: "appAppleID: 1234567890\n    allowUnboundJWS: true")
        try use(pair, in: service.routes)
        return service
    }

    private func use(_ pair: ThreadedKeyPair, in service: TestService) throws {
        let policy = service.policy.snapshot
        var ring = policy.ring
        try ring.replace(KeyRing.Key(id: try Fixtures.keyID(), pair: pair))
        service.policy.replace(with: policy.with(ring))
    }

    private static let plain = #""productID":"monthly","offerID":"plain","applicationUsername":"u""#
    private static let byRule = #""productID":"monthly","offerID":"keep",\#(StoreService.token())"#

    // MARK: Where it signs

    @Test(
        "every route signs on the threads of the key",
        arguments: [
            ("/v1/promotional-offers", plain), ("/v1/promotional-offers", byRule),
            ("/v1/promotional-offers", #""transactionID":"2000000123456789",\#(plain)"#),
            (
                "/v1/promotional-offers",
                #""offers":[{"bundleID":"com.example.app",\#(plain)},{"bundleID":"com.example.app",\#(byRule)}]"#
            ),
            ("/v1/decisions", #"\#(StoreService.token()),"sign":true"#),
            (
                "/v1/introductory-offers",
                #""productID":"monthly","allowIntroductoryOffer":true,"transactionID":"2000000123456789""#
            ), ("/v1/advanced-commerce", #""request":{"a":1}"#),
        ])
    func routes(path: String, members: String) async throws {
        for key in [nil, "k1"] {
            let service = try service()
            try await service.addSubscriber(autoRenew: false)
            let before = pair.count
            let isList = members.contains("offers\":[")
            let body = isList ? "{\(members)}" : #"{"bundleID":"com.example.app",\#(members)}"#
            let response = await service.routes.respondLater(Self.post(path, body, key: key))
            #expect(response.status == 200, "\(response.text)")
            #expect(pair.count > before && pair.strays == 0, "\(path)")
        }
    }

    private static func post(_ path: String, _ body: String, key: String? = nil) -> HTTPRequest {
        HTTPRequest(
            method: "POST", target: path, contentType: "application/json", idempotencyKey: key, body: Array(body.utf8))
    }

    @Test("a retention message is signed on the threads of the key")
    func retention() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff()
        try use(pair, in: service.routes)
        #expect(try await service.message().offerClaims != nil)
        #expect(pair.count > 0 && pair.strays == 0)
    }

    // MARK: What waits

    /// Sends requests while the thread is held up, and returns their responses.
    private func hold(
        _ count: Int, _ request: HTTPRequest, to service: TestService, whileHeld: () async throws -> Void
    ) async throws -> [HTTPResponse] {
        pair.thread.hold()
        let responses = (0..<count).map { _ in Task { await service.respondLater(request) } }
        try await whileHeld()
        pair.thread.release()
        var received: [HTTPResponse] = []
        for response in responses { received.append(await response.value) }
        return received
    }

    private var waiting: Int { pair.thread.deadlines.withLockedValue { $0.count } }

    @Test("after a bad signature, nothing that waits is signed")
    func badSignature() async throws {
        let service = try service()
        let request = Self.post("/v1/promotional-offers", #"{"bundleID":"com.example.app",\#(Self.plain)}"#)
        pair.isFaulty.withLockedValue { $0 = true }
        let responses = try await hold(10, request, to: service.routes) { while waiting < 10 { await Task.yield() } }
        #expect(responses.map(\.status) == Array(repeating: 503, count: 10))
        #expect(pair.count == 1)
        #expect(service.routes.log.lines(with: "ALARM").count == 1)
    }

    @Test("the signatures of a list have one deadline together")
    func oneDeadline() async throws {
        let service = try service()
        let offer = #"{"bundleID":"com.example.app",\#(Self.plain)}"#
        let list = Array(repeating: offer, count: 20).joined(separator: ",")
        let response = await service.routes.respondLater(
            Self.post("/v1/promotional-offers", #"{"offers":[\#(list)]}"#))
        #expect(response.status == 200)
        let deadlines = pair.thread.deadlines.withLockedValue { $0 }
        #expect(deadlines.count == 20 && Set(deadlines).count == 1 && deadlines[0] != nil)
    }

    @Test("requests that wait for a token leave room for others in a lane that they share")
    func sharedLane() async throws {
        let service = try service()
        pair.thread.hold()
        let shed = NIOLockedValueBox(0)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let response = await service.routes.respondLater(
                        Self.post(
                            "/v1/promotional-offers", #"{"bundleID":"com.example.app",\#(Self.plain)}"#,
                            key: "k\(number)"))
                    if response.status == 503 { shed.withLockedValue { $0 += 1 } }
                    return response.status
                }
            }
            while waiting < 32 || shed.withLockedValue({ $0 }) < 8 { await Task.yield() }
            // The limit of the lane is 64.
            #expect(service.routes.signing.proofLimit.enter())
            service.routes.signing.proofLimit.leave()
            pair.thread.release()
            return try await group.reduce(into: [:]) { counts, status in counts[status, default: 0] += 1 }
        }
        #expect(statuses == [200: 32, 503: 8] && waiting == 32)
    }

    @Test("an answer to the App Store that comes too late is neither signed nor audited")
    func lateRetention() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff(deadline: .milliseconds(500))
        try use(pair, in: service.routes)
        pair.thread.hold()
        let response = try await service.message()
        #expect(response.offerClaims == nil)
        pair.thread.release()
        try await waitUntil { try await service.authorisations(of: "1000").allSatisfy { $0.state == .withdrawn } }
        #expect(pair.count == 0)
    }
}
