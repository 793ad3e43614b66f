import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("Usernames")
struct UsernameTests {
    private static let tokens = ["a-token-of-the-plain-app", "a-token-of-the-other-app", "a-token-of-the-hashing-app"]
    private static let name = "jo+marked@example.com"

    private static func callers() throws -> [Caller] {
        try tokens.enumerated().map { index, token in
            Caller(
                name: "app\(index)", tokenDigest: try SHA256.hash(Array(token.utf8)),
                scopes: [.sign, .customers, .facts, .erase, .metrics], apps: nil, expiry: nil,
                hashesUsernames: index == 2)
        }
    }

    private static func service() throws -> StoreService {
        try StoreService("plain, {offerID: keep, rule: retention}", app: "sandboxV1: true", callers: callers())
    }

    private static func offer(_ username: String) -> String {
        #""productID":"monthly","offerID":"plain","applicationUsername":"\#(username)""#
    }

    /// SHA-256 of the name, by sha256sum.
    private static let hash = "32c905f75c6b713aa0e2e8c5dc96b4277ba83f635a43ca280fe110b32f1b9e44"

    private static func lines(_ service: StoreService) -> [Substring] {
        service.routes.log.lines(with: "is an e-mail address")
    }

    private static func count(_ service: StoreService) -> Double? {
        Scrape(service.routes.get("/metrics", token: tokens[0]).body)[
            "offer_signer_email_usernames_total"]
    }

    @Test("an e-mail address as username is signed, with one warning for each caller and without the address")
    func warning() async throws {
        let service = try Self.service()
        for token in [0, 0, 1, 0] {
            let response = await service.post(
                "/v1/promotional-offers", Self.offer(Self.name), token: Self.tokens[token])
            #expect(response.status == 200, "\(response.text)")
            #expect(response.json["applicationUsername"] as? String == Self.name)
        }
        _ = try await service.decide(#""applicationUsername":"\#(Self.name)""#, token: Self.tokens[0])
        let sample = service.routes.post(
            "/offer",
            #"{"appBundleID":"com.example.app","productID":"monthly","offerID":"plain","applicationUsername":"a@b.c"}"#,
            token: Self.tokens[1])
        #expect(sample.status == 200)
        let lines = Self.lines(service)
        #expect(lines.count == 2 && lines[0].contains("app0") && lines[1].contains("app1"), "\(lines)")
        #expect(lines.allSatisfy { $0.contains("hashUsernames") })
        #expect(Self.count(service) == 6)
        #expect(!service.routes.log.text.contains("marked") && !service.routes.log.text.contains("a@b.c"))
    }

    @Test(
        "other usernames have no warning",
        arguments: ["", "8d7f9a52c4e1", "@", "jo@", "@example.com", "a@b@c", "see you @ noon", hash])
    func noWarning(username: String) async throws {
        let service = try Self.service()
        let response = await service.post("/v1/promotional-offers", Self.offer(username), token: Self.tokens[0])
        #expect(response.status == 200, "\(response.text)")
        #expect(Self.lines(service).isEmpty && Self.count(service) == 0)
    }

    @Test("a caller with hashUsernames signs for the SHA-256 of the username, and learns it from each answer")
    func hashed() async throws {
        let service = try Self.service()
        let token = Self.tokens[2]
        let single = await service.post("/v1/promotional-offers", Self.offer(Self.name), token: token)
        #expect(single.json["applicationUsername"] as? String == Self.hash, "\(single.text)")
        let signature = try #require(single.json["signature"] as? [String: Any])
        let payload = OfferPayload(
            appBundleID: Sample.bundleID, keyID: try Fixtures.keyID(),
            productIdentifier: try ProductID(utf8: Array("monthly".utf8)),
            offerID: try OfferID(utf8: Array("plain".utf8)),
            customer: try Customer(applicationUsername: Array(Self.hash.utf8)),
            nonce: try Nonce(utf8: Array(try #require(signature["nonce"] as? String).utf8)),
            timestamp: Timestamp(milliseconds: try #require(signature["timestamp"] as? Int64)))
        let text = try #require(signature["signature"] as? String)
        let bytes = try #require(Data(base64Encoded: text))
        #expect(try service.pair.verify(Array(bytes), of: payload.bytes))
        let list = await service.routes.respondLater(
            .json(
                "POST", "/v1/promotional-offers",
                #"{"offers":[{"bundleID":"com.example.app",\#(Self.offer(Self.name))},7]}"#, token: token))
        #expect(list.text.contains(Self.hash) && !list.text.contains("marked"), "\(list.text)")
        let sample = service.routes.post(
            "/offer",
            #"{"appBundleID":"com.example.app","productID":"monthly","offerID":"plain","applicationUsername":"\#(Self.name)"}"#,
            token: token)
        #expect(sample.json["applicationUsername"] as? String == Self.hash)
        let decision = try await service.decide(#""applicationUsername":"\#(Self.name)""#, token: token)
        #expect(decision.json["applicationUsername"] as? String == Self.hash)
        #expect(Self.lines(service).isEmpty && Self.count(service) == 0)
        #expect(!service.routes.log.text.contains("marked"))
    }

    @Test("facts, look-ups and erasures of a caller with hashUsernames know nothing but the hash")
    func customers() async throws {
        let service = try Self.service()
        let named = #"{"bundleID":"com.example.app","environment":"Sandbox","applicationUsername":"\#(Self.name)""#
        func send(_ method: String, _ path: String, _ body: String, _ token: Int = 2) async -> HTTPResponse {
            await service.routes.respondLater(
                HTTPRequest.json(method, path, body, token: Self.tokens[token]))
        }
        #expect(await send("PUT", "/v1/customers/facts", named + #","facts":{"tier":"gold"}}"#).status == 204)
        func stored() async throws -> StoredCustomer? {
            try await service.store.customers(
                known: .applicationUsername(Sample.text(Self.hash)), bundleID: Sample.bundleID, environment: .sandbox
            ).first
        }
        #expect(try await stored()?.teamFacts.map(\.name.description) == ["tier"])
        #expect(await send("POST", "/v1/customers/lookup", named + "}").text.contains(#""tier":"gold""#))
        #expect(await !send("POST", "/v1/customers/lookup", named + "}", 0).text.contains("tier"))
        let link = named + #","appAccountToken":"\#(Sample.token(1).description)"}"#
        #expect(await send("PUT", "/v1/customers/links", link).status == 204)
        #expect(try await stored()?.links.count == 1)
        #expect(await send("DELETE", "/v1/customers", named + "}").status == 200)
        #expect(try await stored() == nil)
    }

    @Test("what is no username is refused as before, and an empty one names no customer")
    func invalid() async throws {
        let service = try Self.service()
        for (value, status) in [
            ("1", 400), ("null", 400), (#"" ""#, 400), ("\"\(String(repeating: "x", count: 513))\"", 400),
        ] {
            let response = await service.post(
                "/v1/promotional-offers", #""productID":"monthly","offerID":"plain","applicationUsername":\#(value)"#,
                token: Self.tokens[2])
            #expect(response.status == status, "\(response.text)")
        }
        let empty = await service.post("/v1/promotional-offers", Self.offer(""), token: Self.tokens[2])
        #expect(empty.status == 200 && empty.json["applicationUsername"] as? String == "")
    }

    @Test("one customer's limit is the same under the name and under its hash")
    func limits() async throws {
        let service = try TestService(callers: Self.callers(), limits: .with(\.customers, 0.001, 1))
        func status(_ username: String, _ token: Int) -> Int {
            service.post(
                "/v1/promotional-offers", #"{"bundleID":"com.example.app",\#(Self.offer(username))}"#,
                token: Self.tokens[token]
            ).status
        }
        #expect(status(Self.name, 2) == 200)
        #expect(status(Self.hash, 0) == 429)
        #expect(status(Self.name, 0) == 200)
    }
}
