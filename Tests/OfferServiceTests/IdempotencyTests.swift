import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

@Suite("Requests with an Idempotency-Key")
struct IdempotencyTests {
    private static let offer =
        #"{"bundleID":"com.example.app","productID":"monthly","offerID":"plain","applicationUsername":"u"}"#
    private static let sample =
        #"{"appBundleID":"com.example.app","productIdentifier":"monthly","offerID":"plain","applicationUsername":"u"}"#
    private static let routes = [
        "/offer", "/v1/promotional-offers", "/v1/decisions", "/v1/introductory-offers", "/v1/advanced-commerce",
    ]

    private static func request(
        _ path: String, _ body: String, key: String?, token: String? = nil
    ) -> HTTPRequest {
        HTTPRequest(
            method: "POST", target: path, contentType: "application/json", authorization: token.map { "Bearer \($0)" },
            idempotencyKey: key, body: Array(body.utf8))
    }

    private static func subscribed(callers: [Caller] = []) async throws -> StoreService {
        let service = try StoreService(
            "{offerID: plain}, {offerID: keep, rule: retention, limits: {outstanding: 1}}",
            app: "appAppleID: 1234567890\n    introductoryOffers: {rule: {not: {rule: win_back}}}", callers: callers)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        return service
    }

    /// - Returns: the body of a request that a customer with one subscription may make to a route.
    private static func body(_ path: String) -> String {
        switch path {
        case "/offer": sample
        case "/v1/introductory-offers": #"{"bundleID":"com.example.app","productID":"monthly","transactionID":"1001"}"#
        case "/v1/advanced-commerce":
            #"{"bundleID":"com.example.app","request":{"operation":"CREATE_SUBSCRIPTION","version":"1"}}"#
        case "/v1/promotional-offers":
            #"{"bundleID":"com.example.app","productID":"monthly","offerID":"keep",\#(StoreService.token())}"#
        default: #"{"bundleID":"com.example.app",\#(StoreService.token())}"#
        }
    }

    @Test("a repeated request gets the same answer, and reserves, signs and exposes once", arguments: routes)
    func repeated(path: String) async throws {
        let service = try await Self.subscribed()
        let request = Self.request(path, Self.body(path), key: "\"k\"")
        let first = await service.routes.respondLater(request)
        #expect(first.status == 200, "\(first.text)")
        let signatures = service.routes.scrape().sum(of: "offer_signer_signatures_total")
        #expect(signatures > 0)
        // Another process with the same database.
        let other = try TestService(
            pair: service.pair, catalogue: service.catalogue, issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()),
            appStore: service.appStore, store: service.current)
        other.setTime(Sample.day(10))
        for process in [service.routes, other] {
            let again = await process.respondLater(Self.request(path, Self.body(path), key: "k"))
            #expect(again.status == 200 && again.body == first.body && again.mediaType == .json)
        }
        #expect(service.routes.scrape().sum(of: "offer_signer_signatures_total") == signatures)
        #expect(other.scrape().sum(of: "offer_signer_signatures_total") == 0)
        let scrape = service.routes.scrape()
        #expect(scrape.sum(of: #"offer_signer_keyed_requests_total{outcome="first"}"#) == 1)
        #expect(scrape.sum(of: #"offer_signer_keyed_requests_total{outcome="repeated"}"#) == 1)
        let isByRule = ["/v1/promotional-offers", "/v1/decisions"].contains(path)
        // Without a cap, both forms of one answer are reserved.
        #expect(try await service.authorisations().count == (isByRule ? 2 : 0))

        let unkeyed = await service.routes.respondLater(Self.request(path, Self.body(path), key: nil))
        #expect(unkeyed.body != first.body)
        let reused = await service.routes.respondLater(Self.request(path, Self.body(path) + " ", key: "k"))
        #expect(reused.status == 422 && reused.json["code"] as? String == "idempotency_key_reused")
        service.setDay(10 + 601 / 86_400)
        let later = await service.routes.respondLater(Self.request(path, Self.body(path), key: "k"))
        #expect(later.body != first.body)
    }

    @Test("simultaneous requests with one key get one answer")
    func simultaneous() async throws {
        let service = try await Self.subscribed()
        let path = "/v1/decisions"
        let answers = await withTaskGroup(of: HTTPResponse.self) { group in
            for _ in 1...20 {
                group.addTask {
                    await service.routes.respondLater(Self.request(path, Self.body(path), key: "k"))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == 200 } && Set(answers.map(\.body)).count == 1)
        #expect(try await service.authorisations().count == 2)
    }

    @Test("a refusal by a limit is kept, and a problem is not")
    func refusals() async throws {
        let service = try await Self.subscribed()
        let path = "/v1/promotional-offers"
        let body = Self.body(path)
        #expect(await service.routes.respondLater(Self.request(path, body, key: nil)).status == 200)
        let refused = await service.routes.respondLater(Self.request(path, body, key: "k"))
        #expect(refused.status == 422 && refused.text.contains("outstanding"), "\(refused.text)")
        service.setDay(10 + 599 / 86_400)
        let again = await service.routes.respondLater(Self.request(path, body, key: "k"))
        #expect(again.status == 422 && again.mediaType == .problem && again.body == refused.body)

        let unknown = body.replacing("keep", with: "unknown")
        #expect(await service.routes.respondLater(Self.request(path, unknown, key: "l")).status == 403)
        let corrected = await service.routes.respondLater(Self.request(path, body, key: "l"))
        #expect(corrected.json["code"] as? String == "not_eligible", "a request that was not answered can be corrected")
    }

    @Test("a list is kept if it has a signature or only refusals by rules")
    func lists() async throws {
        let service = try await Self.subscribed()
        let path = "/v1/promotional-offers"
        func list(_ offers: String...) -> String { #"{"offers":[\#(offers.joined(separator: ","))]}"# }
        let (plain, unknown) = (Self.offer, Self.offer.replacing("plain", with: "unknown"))
        // Nobody knows this customer.
        let refused = Self.offer.replacing("plain", with: "keep")
        for (number, (body, isKept)) in [
            (list(plain, unknown), true), (list(unknown), false), (list(refused), true), (list(refused, refused), true),
            (list(refused, unknown), false), (list(plain, refused), true),
        ].enumerated() {
            let key = "\(number)"
            let first = await service.routes.respondLater(Self.request(path, body, key: key))
            #expect(first.status == 200 && first.text.contains("not_eligible") == body.contains("keep"))
            let other = await service.routes.respondLater(Self.request(path, list(plain), key: key))
            #expect(other.status == (isKept ? 422 : 200), "\(other.text)")
        }
    }

    @Test("each caller has their own keys")
    func callers() async throws {
        let callers = try [Caller.test("one"), .test("two")]
        let service = try await Self.subscribed(callers: callers)
        var bodies: Set<[UInt8]> = []
        for name in ["one", "two", "one"] {
            let answer = await service.routes.respondLater(
                Self.request("/offer", Self.sample, key: "k", token: "token-of-\(name)"))
            #expect(answer.status == 200)
            bodies.insert(answer.body)
        }
        #expect(bodies.count == 2)
    }

    @Test("without a database, answers are kept in memory; while it fails, offers without a rule are")
    func withoutDatabase() async throws {
        let plain = try TestService()
        let broken = try StoreService("{offerID: plain}, {offerID: keep, rule: retention}")
        broken.setDay(10)
        broken.current.note(StoreError(.unreachable, "test"))
        try broken.store.close()
        for routes in [plain, broken.routes] {
            let first = await routes.respondLater(Self.request("/offer", Self.sample, key: "k"))
            #expect(first.status == 200, "\(first.text)")
            let again = await routes.respondLater(Self.request("/offer", Self.sample, key: "k"))
            #expect(again.body == first.body)
            let reused = await routes.respondLater(Self.request("/offer", Self.sample + " ", key: "k"))
            #expect(reused.json["code"] as? String == "idempotency_key_reused")
        }
        let decision = await broken.routes.respondLater(
            Self.request("/v1/decisions", Self.body("/v1/decisions"), key: "d"))
        #expect(decision.json["code"] as? String == "store_unavailable")
    }

    @Test("nothing is reserved for a claim in memory, even if the database works again")
    func worksAgain() async throws {
        let service = try await Self.subscribed()
        var admission = Admission(
            principal: .anyone, policy: service.routes.signer.policy.snapshot, context: RequestContext())
        let request = IdempotentRequest(id: [1], digest: [2])
        admission.claim = .inMemory(IdempotentRequest.Claim(request, owner: UUIDText(high: 1, low: 1)))
        let path = "/v1/decisions"
        let lane = try service.routes.signing.answerDecisions(
            Self.request(path, Self.body(path), key: nil), admission)
        guard case .later(_, _, let work) = lane else {
            Issue.record("answered at once")
            return
        }
        await #expect(throws: Problem.storeUnavailable) { try await work() }
        #expect(try await service.authorisations() == [])
    }

    @Test("memory forgets the oldest answers beyond its limits")
    func memory() throws {
        let memory = AnswersInMemory(maximumCount: 3, maximumSize: 100)
        func claim(_ number: UInt8) -> IdempotentRequest.Claim {
            IdempotentRequest.Claim(
                IdempotentRequest(id: [number], digest: [1]), owner: UUIDText(high: 1, low: UInt64(number)))
        }
        func answer(_ size: Int) -> IdempotentRequest.Answer {
            IdempotentRequest.Answer(status: 200, body: [UInt8](repeating: 0, count: size))
        }
        let now = Sample.day(1)
        for number in 1...3 as ClosedRange<UInt8> {
            #expect(memory.claim(claim(number), at: now) == .granted)
            memory.keep(answer(30), of: claim(number))
        }
        #expect(memory.claim(claim(1), at: now) == .answered(answer(30)))
        #expect(memory.claim(claim(4), at: now) == .granted, "the oldest makes room")
        memory.keep(answer(90), of: claim(4))
        #expect(memory.claim(claim(2), at: now) == .answered(answer(30)))
        #expect(memory.claim(claim(5), at: now) == .granted, "too many bytes")
        #expect(memory.claim(claim(4), at: now) == .answered(answer(90)))
        for number in 1...3 as ClosedRange<UInt8> {
            #expect(memory.claim(claim(number), at: now) == .granted, "forgotten")
            memory.release(claim(number))
        }
        #expect(memory.claim(claim(5), at: now) == .inProgress)
        #expect(memory.claim(claim(5), at: now + .seconds(600)) == .granted)
    }

    @Test(
        "a key is one string, quoted or not",
        arguments: [
            ("k", "k"), (#""k""#, "k"), (#""a\"b\\c""#, #"a"b\c"#), (#"a\b"#, #"a\b"#), (#""a b""#, "a b"),
            ("a;b", "a;b"), (String(repeating: "k", count: 128), String(repeating: "k", count: 128)),
        ])
    func keys(value: String, key: String) throws {
        let read = try IdempotencyKey(of: Self.request("/offer", "", key: value))
        #expect(read?.utf8 == Array(key.utf8))
    }

    @Test(
        "any other key is refused",
        arguments: [
            "", #""""#, "a b", #""a"#, #"a""#, #""a"b"#, #""a";p=1"#, #""a", "b""#, #""a\b""#, #""a\"#, "\u{E9}", "a\t",
            String(repeating: "k", count: 129),
        ])
    func invalidKeys(value: String) async throws {
        let service = try TestService()
        let response = await service.respondLater(Self.request("/offer", Self.sample, key: value))
        #expect(response.status == 400 && response.json["field"] as? String == "Idempotency-Key")
    }
}
