import AppStoreData
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("Decisions")
struct DecisionTests {
    private static let offers = """
        plain, {offerID: keep, rule: retention, priority: 20}, {offerID: back, rule: win_back},
        {offerID: loyal, rule: loyalty, priority: 30}
        """

    @Test("a request runs on the threads that read the store, unless its body is so large that it has proofs")
    func threads() throws {
        let service = try StoreService("{offerID: o, rule: retention}")
        let largest = HTTPRequest.maximumBodySize
        for (size, runsOnStore) in [(2, true), (largest, true), (largest + 1, false)] {
            let request = HTTPRequest(
                method: "POST", target: "/v1/decisions", contentType: "application/json",
                body: Array(("{}" + String(repeating: " ", count: size - 2)).utf8))
            guard case .later(_, let executor, _) = service.routes.router.reply(to: request, shedding: .none) else {
                Issue.record("\(size) bytes are answered at once")
                continue
            }
            #expect((executor != nil) == runsOnStore && (executor == nil || executor === service.store.executor))
        }
    }

    @Test("the best offer is signed, the others are listed, and each refusal has its reasons")
    func best() async throws {
        let service = try StoreService(Self.offers + ", {offerID: also, rule: retention, priority: 10}")
        try await service.addSubscriber(autoRenew: false)
        let decision = try await service.decide()
        #expect(decision.response.status == 200, "\(decision.response.text)")
        #expect(decision.eligible == ["keep", "also"] && decision.signed == ["keep"])
        #expect(decision.refused == ["back": ["ended_because", "subscription_status"], "loyal": ["renewals"]])
        let text = decision.response.text
        #expect(
            text.contains(
                #""environment":"Production","state":"active","subscriptions":[{"originalTransactionID":"1000""#))
        #expect(text.contains(#""rule":"retention","priority":20"#))
        #expect(text.contains(#""fact":"subscription.status","found":"active","required":["expired","revoked"]"#))
        let jws = try #require(decision.offers[0]["compactJWS"] as? String)
        let claims = try #require(Base64URL.json(jws.split(separator: ".")[1]))
        #expect(claims["transactionId"] as? String == "1000", "bound to the customer's own transaction")
        let authorisations = try await service.authorisations()
        #expect(authorisations.map(\.offerID.text.description) == ["keep", "keep"], "one for each form")
        #expect(authorisations.map(\.state) == [.outstanding, .outstanding])
        let scrape = service.routes.scrape()
        #expect(scrape.sum(of: "offer_signer_decisions_total") == 5, "one for each reason")
        #expect(
            scrape[
                #"offer_signer_decisions_total{app="com.example.app",environment="Production",product="monthly",offer="loyal",rule="loyalty",reason="renewals"}"#
            ] == 1)
        #expect(
            scrape[
                #"offer_signer_reservations_total{app="com.example.app",environment="Production",product="monthly",offer="keep",outcome="reserved"}"#
            ] == 1)
    }

    @Test("sign chooses what is signed: the best, all, or nothing")
    func signing() async throws {
        let service = try StoreService(Self.offers + ", {offerID: also, rule: retention, limits: {perCustomer: 1}}")
        try await service.addSubscriber(autoRenew: false)
        let none = try await service.decide(StoreService.token() + #","sign":false"#)
        #expect(none.eligible == ["keep", "also"] && none.signed.isEmpty)
        #expect(try await service.authorisations() == [])
        let all = try await service.decide(StoreService.token() + #","sign":true"#)
        #expect(all.signed == ["keep", "also"])
        let again = try await service.decide(StoreService.token() + #","sign":false"#)
        #expect(again.eligible == ["keep"] && again.refused["also"] == ["outstanding"])
        let best = try await service.decide(StoreService.token() + #","sign":"best""#)
        #expect(best.signed == ["keep"])
        service.setDay(11.01)
        let later = try await service.decide(StoreService.token() + #","sign":true"#)
        #expect(later.signed == ["keep", "also"], "what was not redeemed has expired")
    }

    @Test("where the best offer's limit is reached, the next one is signed")
    func nextBest() async throws {
        let service = try StoreService(
            "{offerID: one, rule: retention, priority: 2, limits: {total: 1}}, {offerID: two, rule: retention}")
        try await service.addSubscriber(autoRenew: false)
        try await service.addSubscriber("2000", account: 2, autoRenew: false)
        #expect(try await service.decide().signed == ["one"])
        let other = try await service.decide(StoreService.token(2))
        #expect(other.signed == ["two"] && other.refused == ["one": ["total_cap"]])
    }

    @Test("a customer nobody knows gets an answer with what is missing, not an error")
    func unknown() async throws {
        let service = try StoreService(Self.offers)
        let decision = try await service.decide(StoreService.token(9))
        #expect(decision.response.status == 200 && decision.eligible.isEmpty)
        #expect(decision.refused == ["keep": ["unknown"], "back": ["unknown"], "loyal": ["unknown"]])
        #expect(decision.response.text.contains(#""subscriptions":[]"#))
        #expect(decision.response.text.contains(#""missing":"history""#))
        let anonymous = try await service.decide(#""applicationUsername":"""#)
        #expect(anonymous.refused["keep"] == ["unknown"])
    }

    @Test("a rule about a product of another group holds for its subscribers")
    func productOfAnotherGroup() async throws {
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                products:
                  - productID: monthly
                    subscriptionGroupID: "21012345"
                    offers:
                      - {offerID: fan, rule: {subscription: {product: news, status: active}}}
                      - {offerID: other, rule: {not: {subscription: {product: news}}}}
                  - {productID: news, subscriptionGroupID: "2", offers: []}
                  - {productID: sport, subscriptionGroupID: "2", offers: []}
            """
        let service = try StoreService(yaml: yaml)
        for (account, name) in [(1, "news"), (2, "sport")] as [(UInt64, String)] {
            let productID = try ProductID(utf8: Array(name.utf8))
            try await service.addSubscriber("\(account)000", account: account)
            try await service.addSubscriber("\(account)001", account: account) {
                var bought = Purchase(productID: productID, purchaseDate: $0.purchaseDate)
                (bought.type, bought.subscriptionGroupID) = ($0.type, "2")
                (bought.expiresDate, bought.ownership) = ($0.expiresDate, $0.ownership)
                (bought.reason, bought.price) = ($0.reason, $0.price)
                bought.appAccountToken = $0.appAccountToken
                $0 = bought
            }
        }
        let subscriber = try await service.decide(#""sign":false,"# + StoreService.token(1))
        #expect(subscriber.eligible == ["fan"], "\(subscriber.response.text)")
        let another = try await service.decide(#""sign":false,"# + StoreService.token(2))
        #expect(another.eligible == ["other"] && another.refused == ["fan": ["no_subscription"]])
    }

    @Test("an app and a user learn codes alone")
    func codesAlone() async throws {
        let tokens = ["a-token-of-the-app-1", "a-token-of-support-1"]
        let callers = [
            try Caller.test("backend", [.sign], token: tokens[0]),
            try Caller.test("backend", [.sign, .customers], token: tokens[1]),
        ]
        let service = try StoreService(Self.offers, callers: callers)
        try await service.addSubscriber(autoRenew: false)
        let app = try await service.decide(token: tokens[0])
        #expect(app.signed == ["keep"] && app.refused["back"] == ["ended_because", "subscription_status"])
        for name in ["subscriptions", "rule", "priority", "text", "found", "required", "fact"] {
            #expect(!app.response.text.contains("\"\(name)\""), "\(name)")
        }
        let support = try await service.decide(StoreService.token() + #","sign":false"#, token: tokens[1])
        #expect(support.response.text.contains(#""found":"active""#))
        let refusal = await service.post(
            "/v1/promotional-offers", #""productID":"monthly","offerID":"back",\#(StoreService.token())"#,
            token: tokens[0])
        #expect(refusal.status == 422)
        #expect(refusal.text.contains(#""code":"not_eligible""#))
        #expect(refusal.text.contains(#""reasons":[{"code":"subscription_status"},{"code":"ended_because"}]"#))
        let unauthorised = try await service.decide(token: "a-token-that-is-wrong-1")
        #expect(unauthorised.response.status == 401)
    }

    @Test("rules hold in every route that signs offers")
    func everyRoute() async throws {
        let service = try StoreService(Self.offers)
        try await service.addSubscriber(autoRenew: false)
        let path = "/v1/promotional-offers"
        func body(_ offer: String) -> String {
            #""productID":"monthly","offerID":"\#(offer)",\#(StoreService.token())"#
        }
        let good = await service.post(path, body("keep"))
        #expect(good.status == 200 && good.text.contains(#""signature":{"#) && good.text.contains(#""compactJWS""#))
        let bad = await service.post(path, body("back"))
        #expect(bad.status == 422 && bad.json["code"] as? String == "not_eligible")
        #expect(bad.text.contains(#""found":"active""#))
        let items = ["keep", "back", "plain", "none"].map { "{\"bundleID\":\"com.example.app\",\(body($0))}" }
        let list = await service.routes.postLater(path, #"{"offers":[\#(items.joined(separator: ","))]}"#)
        let outcomes = try #require(list.json["offers"] as? [[String: Any]])
        #expect(outcomes.map { $0["signature"] != nil } == [true, false, true, false])
        let problems = outcomes.map { ($0["problem"] as? [String: Any])?["code"] as? String }
        #expect(problems == [nil, "not_eligible", nil, "offer_not_served"])
        #expect(((outcomes[1]["problem"] as? [String: Any])?["reasons"] as? [Any])?.count == 2)
        let sample = #"{"appBundleID":"com.example.app","productIdentifier":"monthly","#
        let offer = await service.routes.postLater("/offer", sample + #""offerID":"keep",\#(StoreService.token())}"#)
        #expect(offer.status == 200 && offer.json["signature"] is String && offer.json["compactJWS"] == nil)
        let refused = await service.routes.postLater(
            "/offer", sample + #""offerID":"loyal",\#(StoreService.token())}"#)
        #expect(refused.status == 422 && refused.json["code"] as? String == "not_eligible")
    }

    @Test("a list may name several customers and repeat an offer, and its answers keep the order of the request")
    func list() async throws {
        let service = try StoreService(
            "{offerID: keep, rule: retention, limits: {perCustomer: 1}}, {offerID: stay, rule: retention}, plain")
        try await service.addSubscriber(autoRenew: false)
        try await service.addSubscriber("2000", account: 2)
        let requested: [(String, UInt64)] = [
            ("keep", 1), ("keep", 2), ("plain", 1), ("stay", 1), ("none", 1), ("keep", 1), ("stay", 1), ("keep", 3),
        ]
        let items = requested.map { offer, customer in
            #"{"bundleID":"com.example.app","productID":"monthly","offerID":"\#(offer)",\#(StoreService.token(customer))}"#
        }
        let response = await service.routes.postLater(
            "/v1/promotional-offers", #"{"offers":[\#(items.joined(separator: ","))]}"#)
        let answers = try #require(response.json["offers"] as? [[String: Any]])
        let results = answers.map { answer -> String in
            guard let problem = answer["problem"] as? [String: Any] else {
                return "\(answer["offerID"] ?? "") \(answer["appAccountToken"] ?? "")"
            }
            let reasons = problem["reasons"] as? [[String: Any]] ?? []
            return "\(problem["code"] ?? "") \(reasons.compactMap { $0["code"] as? String })"
        }
        let one = Sample.token(1)
        #expect(
            results == [
                "keep \(one)", #"not_eligible ["auto_renew"]"#, "plain \(one)", "stay \(one)", "offer_not_served []",
                #"not_eligible ["outstanding"]"#, "stay \(one)", #"not_eligible ["unknown", "unknown"]"#,
            ])
        let authorisations = try await service.authorisations()
        #expect(Set(authorisations.map(\.offerID.text.description)) == ["keep", "stay"])
        #expect(authorisations.allSatisfy { $0.state == .outstanding })
    }

    @Test("a bad signature in a list stops its key, and leaves only what was signed before reserved")
    func badSignature() async throws {
        /// A key whose second signature is wrong.
        func faultyPair(_ key: SigningKey) -> StubKeyPair {
            let count = NIOLockedValueBox(0)
            return StubKeyPair(
                sign: { message in
                    let count = count.withLockedValue { count in
                        count += 1
                        return count
                    }
                    return try key.sign(count == 2 ? [] : message)
                }, verify: key.verify)
        }
        let offers = ["one", "two", "three"]
        func answer(_ path: String, _ body: String) async throws -> (HTTPResponse, [Authorisation.State]) {
            let service = try StoreService(
                offers.map { "{offerID: \($0), rule: retention}" }.joined(separator: ", "), hasIssuerID: false)
            try await service.addSubscriber(autoRenew: false)
            let faulty = try TestService(
                pair: faultyPair(service.pair), catalogue: service.catalogue, store: service.current)
            faulty.setTime(Sample.day(10))
            let response = await faulty.postLater(path, body)
            return (response, try await service.authorisations().map(\.state))
        }
        let items = offers.map {
            #"{"bundleID":"com.example.app","productID":"monthly","offerID":"\#($0)",\#(StoreService.token())}"#
        }
        let (list, states) = try await answer(
            "/v1/promotional-offers", #"{"offers":[\#(items.joined(separator: ","))]}"#)
        let answers = try #require(list.json["offers"] as? [[String: Any]])
        #expect(answers.map { $0["signature"] != nil } == [true, false, false])
        #expect(
            answers.compactMap { ($0["problem"] as? [String: Any])?["code"] as? String }
                == ["signing_unavailable", "signing_unavailable"])
        #expect(states == [.outstanding, .withdrawn, .withdrawn])
        let (decision, afterDecision) = try await answer(
            "/v1/decisions", #"{"bundleID":"com.example.app","sign":true,\#(StoreService.token())}"#)
        #expect(decision.status == 503 && decision.json["code"] as? String == "signing_unavailable")
        #expect(afterDecision == [.withdrawn, .withdrawn, .withdrawn])
    }

    @Test("the store is needed for a decision, and not for an offer without a rule")
    func noStore() async throws {
        let service = try StoreService(Self.offers)
        try service.store.close()
        let decision = try await service.decide()
        #expect(decision.response.status == 503 && decision.json["code"] as? String == "store_unavailable")
        let plain = await service.post(
            "/v1/promotional-offers", #""productID":"monthly","offerID":"plain",\#(StoreService.token())"#)
        #expect(plain.status == 200)
    }

    @Test("a signature comes with the billing plan that is configured for the offer")
    func billingPlan() async throws {
        let service = try StoreService(
            """
            {offerID: keep, rule: retention, billingPlan: MONTHLY}, {offerID: other, rule: retention},
            {offerID: plain, billingPlan: BILLED_UPFRONT}
            """)
        try await service.addSubscriber(autoRenew: false)
        let plans = try await service.decide().offers.map { offer in
            "\(offer["offerID"] ?? "") \(offer["billingPlanType"] ?? "none")"
        }
        #expect(plans.sorted() == ["keep MONTHLY", "other none"])
        for (offer, plan) in [("keep", "MONTHLY"), ("other", nil), ("plain", "BILLED_UPFRONT")] {
            let signed = await service.post(
                "/v1/promotional-offers", #""productID":"monthly","offerID":"\#(offer)",\#(StoreService.token())"#)
            #expect(signed.status == 200 && signed.json["billingPlanType"] as? String == plan, "\(signed.text)")
            let sample = await service.routes.postLater(
                "/offer",
                """
                {"appBundleID":"com.example.app","productIdentifier":"monthly","offerID":"\(offer)",\(StoreService.token())}
                """)
            #expect(!sample.text.contains("billingPlanType"), "the answer has the members of Apple's sample")
        }
    }

    @Test("a request is read strictly")
    func strict() async throws {
        let service = try StoreService(Self.offers)
        let cases: [(String, Int, String, String?)] = [
            (#""sign":"some""#, 400, "invalid_field", "sign"), (#""sign":3"#, 400, "wrong_type", "sign"),
            (#""productIDs":[]"#, 400, "invalid_field", "productIDs"),
            (#""productIDs":[3]"#, 400, "wrong_type", "productIDs[0]"),
            (#""productIDs":"monthly""#, 400, "wrong_type", "productIDs"),
            (#""environment":"production""#, 400, "invalid_field", "environment"),
            (#""environment":"Xcode""#, 400, "invalid_field", "environment"),
            (#""offerID":"keep""#, 400, "unknown_field", "offerID"), (#""nonce":"1""#, 400, "reserved_field", "nonce"),
            (#""proofs":{}"#, 400, "invalid_field", "proofs"),
            (#""verifiedProofs":true"#, 400, "missing_field", "proofs"),
        ]
        for (members, status, code, field) in cases {
            let response = await service.post("/v1/decisions", StoreService.token() + "," + members)
            #expect(
                response.status == status && response.json["code"] as? String == code, "\(members) \(response.text)")
            #expect(response.json["field"] as? String == field, "\(members)")
        }
        let nobody = await service.post("/v1/decisions", #""sign":false"#)
        #expect(nobody.json["code"] as? String == "missing_field")
        let other = await service.routes.postLater(
            "/v1/decisions", #"{"bundleID":"com.example.other","applicationUsername":"u"}"#)
        #expect(other.status == 403 && other.json["code"] as? String == "app_not_served")
    }

    @Test("productIDs limits what is decided")
    func products() async throws {
        let service = try StoreService(Self.offers)
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.decide(StoreService.token() + #","productIDs":["yearly"]"#).json.count == 5)
        #expect(try await service.decide(StoreService.token() + #","productIDs":["yearly"]"#).eligible.isEmpty)
        let decision = try await service.decide(StoreService.token() + #","productIDs":["yearly","monthly"]"#)
        #expect(decision.eligible == ["keep"])
    }

    @Test("a sandbox customer gets a JWS alone, unless the app says otherwise")
    func sandbox() async throws {
        let service = try StoreService(Self.offers)
        try await service.addSubscriber(autoRenew: false, in: Sample.sandbox)
        let decision = try await service.decide()
        #expect(decision.json["environment"] as? String == "Sandbox")
        #expect(decision.offers[0]["compactJWS"] is String && decision.offers[0]["signature"] == nil)
        let sample =
            #"{"appBundleID":"com.example.app","productIdentifier":"monthly","offerID":"keep",\#(StoreService.token())}"#
        let offer = await service.routes.postLater("/offer", sample)
        #expect(offer.status == 422 && offer.text.contains(#"{"code":"environment""#))
        let allowing = try StoreService(Self.offers, app: "sandboxV1: true")
        try await allowing.addSubscriber(autoRenew: false, in: Sample.sandbox)
        #expect(try await allowing.decide().offers[0]["signature"] != nil)
        let withoutIssuer = try StoreService(Self.offers, hasIssuerID: false)
        try await withoutIssuer.addSubscriber(autoRenew: false, in: Sample.sandbox)
        let unsigned = try await withoutIssuer.decide()
        #expect(unsigned.eligible == ["keep"] && unsigned.signed.isEmpty)
        #expect(unsigned.offers[0]["compactJWSMissing"] as? [String] == ["issuer_id_missing"])
        let single = await withoutIssuer.post(
            "/v1/promotional-offers", #""productID":"monthly","offerID":"keep",\#(StoreService.token())"#)
        #expect(single.status == 503 && single.json["code"] as? String == "issuer_id_missing")
    }

    @Test("a customer with data in both environments is asked for with environment")
    func bothEnvironments() async throws {
        let service = try StoreService(Self.offers)
        try await service.addSubscriber(autoRenew: false)
        try await service.addSubscriber(autoRenew: true, in: Sample.sandbox)
        #expect(try await service.decide().json["code"] as? String == "environment_needed")
        let sandbox = try await service.decide(StoreService.token() + #","environment":"Sandbox""#)
        #expect(sandbox.eligible.isEmpty && sandbox.refused["keep"] == ["auto_renew"])
        let production = try await service.decide(StoreService.token() + #","environment":"Production""#)
        #expect(production.eligible == ["keep"])
    }

    @Test("a decision that leads to a signature is part of its audit line, and nothing leaves without it")
    func audit() async throws {
        let folder = try TemporaryFolder()
        let trail = try #require(try await StoreService.trail(in: folder))
        let service = try StoreService(Self.offers) { $0.safeguards.trail = trail }
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.decide().signed == ["keep"])
        let lines = try folder.lines("audit.jsonl").filter { $0.contains(#""outcome":"signed""#) }
        #expect(lines.count == 2)
        let digest = Hexadecimal.text(of: service.catalogue.digest)
        for line in lines {
            #expect(line.contains(#""rule":"retention","rulesSHA256":"\#(digest)","factsSHA256":""#), "\(line)")
        }
    }

    @Test("a customer of two environments is asked for with one, on every route")
    func environments() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await service.addSubscriber("1000", autoRenew: false)
        try await service.addSubscriber("9000", autoRenew: false, in: Sample.sandbox)
        let offer = #""productID":"monthly","offerID":"keep","# + StoreService.token()
        let sample =
            #"{"appBundleID":"com.example.app","productIdentifier":"monthly","offerID":"keep",\#(StoreService.token())"#
        func ask(_ environment: String?) async -> [HTTPResponse] {
            let member = environment.map { #","environment":"\#($0)""# } ?? ""
            return [
                await service.post("/v1/promotional-offers", offer + member),
                await service.routes.respondLater(HTTPRequest.json("POST", "/offer", sample + member + "}")),
            ]
        }
        for response in await ask(nil) { #expect(response.json["code"] as? String == "environment_needed") }
        for response in await ask("Production") { #expect(response.status == 200, "\(response.text)") }
        #expect(await ask("Nowhere").allSatisfy { $0.status == 400 })
    }

    @Test("under a cap, an answer has the JWS alone; without one, both forms")
    func forms() async throws {
        let service = try StoreService(
            "{offerID: keep, rule: retention, limits: {perCustomer: 1}}, {offerID: free, rule: retention}")
        try await service.addSubscriber(autoRenew: false)
        let decision = try await service.decide(StoreService.token() + #","sign":true"#)
        let forms = decision.offers.map { ($0["signature"] != nil, $0["compactJWS"] != nil) }
        #expect(forms.map(\.0) == [false, true] && forms.map(\.1) == [true, true], "\(decision.response.text)")
        let withoutIssuer = try StoreService(
            "{offerID: keep, rule: retention, limits: {total: 1}}", hasIssuerID: false)
        try await withoutIssuer.addSubscriber(autoRenew: false)
        let only = try await withoutIssuer.decide()
        #expect(only.offers.first?["signature"] != nil && only.offers.first?["compactJWS"] == nil)
    }
}

/// Reads parts of a JWS.
enum Base64URL {
    static func json(_ part: Substring) -> [String: Any]? {
        var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
    }
}
