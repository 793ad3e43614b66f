import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Requests without `bundleID`.
@Suite("An app that requests need not name")
struct OnlyAppTests {
    private static let grant = StoreService.token() + #","productID":"monthly","offerID":"keep","reason":"goodwill""#
    private static let requests: [(method: String, path: String, members: String)] = [
        ("POST", "/v1/decisions", StoreService.token()),
        ("POST", "/v1/promotional-offers", StoreService.token() + #","productID":"monthly","offerID":"plain""#),
        (
            "POST", "/v1/introductory-offers",
            #""productID":"monthly","transactionID":"1000","allowIntroductoryOffer":true"#
        ),
        ("POST", "/v1/advanced-commerce", #""request":{"operation":"CREATE_SUBSCRIPTION"}"#),
        ("POST", "/v1/purchases", StoreService.token() + "," + ((try? DecisionProofTests.proofs()) ?? "")),
        ("POST", "/v1/offers/events", #""events":[{"event":"shown","nonce":"7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b"}]"#),
        ("POST", "/v1/customers/lookup", StoreService.token()),
        ("POST", "/v1/customers/list", #""state":"billing_retry""#),
        ("PUT", "/v1/customers/facts", StoreService.token() + #","environment":"Sandbox","facts":{"a":1}"#),
        (
            "PUT", "/v1/customers/facts",
            #""environment":"Sandbox","customers":[{\#(StoreService.token()),"facts":{"a":1}}]"#
        ),
        ("PUT", "/v1/customers/links", #""transactionID":"1000","applicationUsername":"u""#),
        ("POST", "/v1/grants", grant),
        ("DELETE", "/v1/customers", #""transactionID":"1000""#),
    ]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func service(_ others: String = "") async throws -> StoreService {
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                grants: {reasons: [goodwill], dailyBudget: 5}
                products:
                  - {productID: monthly, subscriptionGroupID: "1", offers: [plain, {offerID: keep, rule: retention}]}
            \(others)
            """
        let trail = try await StoreService.trail(in: folder)
        let service = try StoreService(yaml: yaml) { $0.safeguards.trail = trail }
        try await service.addSubscriber()
        return service
    }

    private static func send(
        _ request: (method: String, path: String, members: String), to service: StoreService
    ) async -> HTTPResponse {
        await service.routes.respondLater(.json(request.method, request.path, "{\(request.members)}", token: nil))
    }

    @Test("with one app, no route needs its bundleID", arguments: requests.indices)
    func one(index: Int) async throws {
        let request = Self.requests[index]
        let answer = await Self.send(request, to: try await service())
        #expect(answer.status < 300, "\(request.path): \(answer.text)")
    }

    @Test("with several apps, each route needs it", arguments: requests.indices)
    func several(index: Int) async throws {
        let request = Self.requests[index]
        let service = try await service("  - {bundleID: com.example.other, products: []}")
        let answer = await Self.send(request, to: service)
        #expect(answer.status == 400 && answer.json["code"] as? String == "missing_field", "\(request.path)")
        #expect(answer.json["field"] as? String == "bundleID", "\(answer.text)")
    }

    @Test("each offer of a list may leave it out, and so may the query of a route that is read")
    func listsAndQueries() async throws {
        let service = try await service()
        let offer = "\(StoreService.token()),\"productID\":\"monthly\",\"offerID\":\"plain\""
        let list = await Self.send(
            ("POST", "/v1/promotional-offers", #""offers":[{\#(offer)},{"bundleID":"com.example.app",\#(offer)}]"#),
            to: service)
        let offers = try #require(list.json["offers"] as? [[String: Any]])
        #expect(offers.count == 2 && offers.allSatisfy { $0["signature"] != nil }, "\(list.text)")
        for path in ["/v1/grants", "/v1/reports/offers?productID=monthly&offerID=keep"] {
            let answer = await service.routes.respondLater(HTTPRequest(method: "GET", target: path))
            #expect(answer.status < 300, "\(path): \(answer.text)")
        }
        // A grant is named by its ID alone.
        let made = await Self.send(("POST", "/v1/grants", Self.grant), to: service)
        let id = try #require(made.json["id"] as? String)
        let withdrawn = await Self.send(("DELETE", "/v1/grants", #""id":"\#(id)""#), to: service)
        #expect(withdrawn.status == 200, "\(withdrawn.text)")
    }

    @Test("an app that is named and not configured is refused")
    func another() async throws {
        let service = try await service()
        let answer = await service.send("POST", "/v1/decisions", StoreService.token(), app: "com.example.other")
        #expect(answer.json["code"] as? String == "app_not_served", "\(answer.text)")
    }
}
