import AppStoreData
import Foundation
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// What `/v1/decisions` says about introductory offers, beside what `/v1/introductory-offers` signs.
@Suite("Introductory offers without a signature")
struct IntroductoryDecisionTests {
    private typealias Proofs = DecisionProofTests

    private static func service(
        _ rule: String = "app_store_default", userIssuers: [UserIssuer] = [], webOrigins: Set<WebOrigin> = []
    ) throws -> StoreService {
        try StoreService(
            "{offerID: keep, rule: retention}", app: "appAppleID: 1234567890\n    introductoryOffers: {rule: \(rule)}",
            userIssuers: userIssuers, webOrigins: webOrigins)
    }

    /// Adds a month of an Apple Account that ended on day 5, with the App Store's history of day 9.
    private static func add(
        _ original: String, account: UInt64?, appleAccount: String = "700", trial: Bool = false, isWhole: Bool = true,
        to service: StoreService, _ change: (inout Purchase) -> Void = { _ in }
    ) async throws {
        let fact = Sample.transaction(original, of: original, 0, 5, signed: 5) {
            $0.appAccountToken = account.map(Sample.token)
            $0.appTransactionID = Sample.id(appleAccount)
            if trial { $0.offer = AppliedOffer(type: .introductory) }
            change(&$0)
        }
        let end = Sample.renewal(of: original, signed: 5.1) {
            $0 = Renewal(productID: $0.productID, autoRenewStatus: .off)
            $0.expirationIntent = .cancelled
        }
        let history = isWhole ? [Sample.history(of: original, at: Sample.day(9.5))] : []
        try await service.store.merge([fact, end] + history, in: Sample.production)
    }

    private static func eligible(_ decision: StoreService.Decision) -> [String: String]? {
        #expect(decision.response.status == 200, "\(decision.response.text)")
        guard let offers = decision.json["introductoryOffers"] as? [[String: String]] else { return nil }
        return Dictionary(
            uniqueKeysWithValues: offers.map { ($0["subscriptionGroupID"] ?? "", $0["eligible"] ?? "") })
    }

    private static func ask(
        _ service: StoreService, account: UInt64 = 1, _ more: String = ""
    ) async throws -> String? {
        let decision = try await service.decide(StoreService.token(account) + #","sign":false"# + more)
        return eligible(decision)?["21012345"]
    }

    /// What the route signs for a transaction: yes, no, or unknown if it signs nothing.
    private static func signed(_ service: StoreService, _ transaction: String) async -> String {
        let answer = await service.post(
            "/v1/introductory-offers", #""productID":"monthly","transactionID":"\#(transaction)""#)
        guard answer.status == 200 else { return "unknown" }
        return answer.json["allowIntroductoryOffer"] as? Bool == true ? "yes" : "no"
    }

    @Test("the answer is yes, no or unknown, as the signed one")
    func asSigned() async throws {
        for (trial, isWhole, expected) in [(false, true, "yes"), (true, true, "no"), (false, false, "unknown")] {
            let service = try Self.service()
            try await Self.add("1000", account: 1, trial: trial, isWhole: isWhole, to: service)
            #expect(try await Self.ask(service) == expected)
            #expect(await Self.signed(service, "1000") == expected)
        }
        let family = try Self.service()
        try await Self.add("1000", account: 1, isWhole: false, to: family) { $0.ownership = .familyShared }
        #expect(try await Self.ask(family) == "unknown")
        #expect(await Self.signed(family, "1000") == "unknown")
    }

    @Test("a signed-in user on a web page gets the answer about the own account, and about no other")
    func users() async throws {
        let (provider, page) = (AccountProvider(), "https://app.example.com")
        let service = try Self.service(
            userIssuers: [provider.issuer], webOrigins: [try #require(WebOrigin(page))])
        try await provider.join(service)
        try await Self.add("1000", account: 1, to: service)
        try await Self.add("2000", account: 2, appleAccount: "701", trial: true, to: service)
        func ask(_ user: UInt64, _ members: String = "") async throws -> HTTPResponse {
            let body = #"{"bundleID":"com.example.app","sign":false\#(members)}"#
            return await service.routes.respondLater(
                HTTPRequest(
                    method: "POST", target: "/v1/decisions", host: "localhost", contentType: "application/json",
                    authorization: "Bearer " + (try provider.token(user)), browser: BrowserHeaders(origin: page),
                    body: Array(body.utf8)))
        }
        for (user, expected) in [(UInt64(1), "yes"), (2, "no"), (3, "unknown")] {
            let answer = try await ask(user)
            #expect(Self.eligible(StoreService.Decision(answer))?["21012345"] == expected)
            #expect(answer.headers.contains { $0 == ("Access-Control-Allow-Origin", page) })
        }
        let another = try await ask(1, "," + StoreService.token(2))
        #expect(another.status != 200 && !another.text.contains("introductoryOffers"), "\(another.text)")
    }

    @Test("an app without a rule for introductory offers gets no answer about them, and products choose the groups")
    func groups() async throws {
        let silent = try StoreService("{offerID: keep, rule: retention}")
        #expect(Self.eligible(try await silent.decide()) == nil)
        let service = try Self.service()
        try await Self.add("1000", account: 1, to: service)
        let other = try await service.decide(StoreService.token() + #","productIDs":["other"],"sign":false"#)
        #expect(Self.eligible(other) == nil)
        let named = try await service.decide(StoreService.token() + #","productIDs":["yearly"],"sign":false"#)
        #expect(Self.eligible(named) == ["21012345": "yes"])
    }

    @Test("a stranger is unknown, and so is the owner of a transaction that is only claimed")
    func strangers() async throws {
        let service = try Self.service()
        try await Self.add("1000", account: nil, to: service)
        #expect(try await Self.ask(service, account: 9) == "unknown")
        #expect(try await Self.ask(service, account: 9, #","transactionID":"1000""#) == "unknown")
    }

    @Test("another person's trial on the same Apple Account uses up the offer")
    func sharedAppleAccount() async throws {
        let service = try Self.service()
        try await Self.add("1000", account: 1, to: service)
        #expect(try await Self.ask(service) == "yes")
        try await Self.add("2000", account: 2, trial: true, to: service)
        #expect(try await Self.ask(service) == "no")
        #expect(await Self.signed(service, "1000") == "no")
    }

    @Test("an account with two Apple Accounts is unknown, until proofs show which one is meant")
    func twoAppleAccounts() async throws {
        let service = try Self.service()
        try await Self.add("1000", account: 1, to: service)
        try await Self.add("2000", account: 1, appleAccount: "701", to: service) { $0.subscriptionGroupID = "99" }
        #expect(try await Self.ask(service) == "unknown")
        let shown = try Proofs.proofs([Proofs.transaction(account: 1)], [Proofs.renewal(account: 1)])
        #expect(try await Self.ask(service, "," + shown) == "yes", "the proofs are of the first one")
        try await Self.add("3000", account: 1, appleAccount: "702", trial: true, to: service)
        #expect(try await Self.ask(service) == "unknown")
    }

    @Test("the answer and the look-up match the contract, and offer-signer decide has the same answer")
    func contract() async throws {
        let schema = JSONSchema(document: try TestService().get("/openapi.json").json)
        let service = try Self.service()
        try await Self.add("1000", account: 1, trial: true, to: service)
        let decision = try await service.decide(StoreService.token() + #","sign":false"#)
        #expect(Self.eligible(decision) == ["21012345": "no"])
        let ofDecisions = try #require(schema.resolve("#/components/schemas/Decisions"))
        #expect(schema.faults(of: decision.json, against: ofDecisions) == [])
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        let command = try await CustomerDecision(
            about: Sample.account(1), of: app, Sample.bundleID, in: nil, productIDs: nil, store: service.current,
            at: Sample.day(10), log: RecordedLog().logger)
        #expect(
            String(decoding: command.json, as: UTF8.self)
                .contains(#""introductoryOffers":[{"subscriptionGroupID":"21012345","eligible":"no"}]"#))
        let found = await service.post("/v1/customers/lookup", StoreService.token())
        #expect(found.text.contains(#""introductoryOffersUsed":["21012345"]"#), "\(found.text)")
    }
}
