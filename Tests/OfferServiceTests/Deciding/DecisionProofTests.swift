import AppStoreData
import Foundation
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("Proofs of a decision")
struct DecisionProofTests {
    private static let offers = "{offerID: keep, rule: retention, limits: {perCustomer: 1}}"

    /// A month that began on day 0, as the App Store signs it.
    static func transaction(
        _ id: String = "1000", account: UInt64? = nil, appleAccount: String = "700"
    ) -> SamplePayload {
        let payload = SamplePayload.transaction.with("transactionId", "\"\(id)\"")
            .with("originalTransactionId", "\"\(id)\"").with("productId", #""monthly""#)
            .with("purchaseDate", "\(Sample.day(0).milliseconds)").with("expiresDate", "\(Sample.day(30).milliseconds)")
            .with("signedDate", "\(Sample.day(1).milliseconds)").with("appTransactionId", "\"\(appleAccount)\"")
            .with("transactionReason", #""PURCHASE""#)
            .without(
                "revocationDate", "revocationReason", "revocationType", "revocationPercentage", "isUpgraded",
                "offerType", "offerIdentifier", "offerDiscountType", "offerPeriod", "appAccountToken",
                "previousOriginalTransactionId", "billingPlanType", "commitmentInfo", "additionalTransactionReason",
                "multiSeatInfo")
        return account.map { payload.with("appAccountToken", "\"\(Sample.token($0).description)\"") } ?? payload
    }

    static func renewal(_ id: String = "1000", account: UInt64? = nil, autoRenew: Bool = false) -> SamplePayload {
        let payload = SamplePayload.renewalInfo.with("originalTransactionId", "\"\(id)\"")
            .with("productId", #""monthly""#).with("autoRenewProductId", #""monthly""#)
            .with("autoRenewStatus", autoRenew ? "1" : "0").with("signedDate", "\(Sample.day(2).milliseconds)")
            .with("renewalDate", "\(Sample.day(30).milliseconds)").with("appTransactionId", #""700""#)
            .without(
                "expirationIntent", "isInBillingRetryPeriod", "gracePeriodExpiresDate", "priceIncreaseStatus",
                "offerType", "offerIdentifier", "offerDiscountType", "offerPeriod", "eligibleWinBackOfferIds",
                "appAccountToken", "commitmentInfo", "renewalBillingPlanType", "multiSeatInfo", "renewalQuantity")
        return account.map { payload.with("appAccountToken", "\"\(Sample.token($0).description)\"") } ?? payload
    }

    static func jws(_ payload: SamplePayload) throws -> String {
        "\"\(try TestChain.standard.get().jws(payload))\""
    }

    static func proofs(
        _ transactions: [SamplePayload] = [transaction()], _ renewals: [SamplePayload] = [renewal()]
    ) throws -> String {
        let lists = try [transactions, renewals].map { try $0.map(jws).joined(separator: ",") }
        return #""proofs":{"signedTransactions":[\#(lists[0])],"signedRenewalInfos":[\#(lists[1])]}"#
    }

    @Test("proofs make a customer known, whatever the store knows, and bind the JWS")
    func proofsAlone() async throws {
        let service = try StoreService(Self.offers)
        let decision = try await service.decide(StoreService.token() + "," + Self.proofs())
        #expect(decision.signed == ["keep"], "\(decision.response.text)")
        let jws = try #require(decision.offers[0]["compactJWS"] as? String)
        #expect(Base64URL.json(jws.split(separator: ".")[1])?["transactionId"] as? String == "1000")
        // They are merged, and hold the slot.
        let stored = try await service.store.customers(
            known: .originalTransactionID(Sample.id("1000")), bundleID: Sample.bundleID, environment: nil)
        #expect(stored.first?.facts.count == 2)
        let other = try await service.decide(StoreService.token(2) + "," + Self.proofs())
        #expect(other.refused["keep"] == ["outstanding"], "the same purchases under another name get no second one")
        // Without the proofs, account 2 is unknown: they counted for that request alone.
        #expect(try await service.decide(StoreService.token(2)).refused["keep"] == ["unknown"])
    }

    @Test(
        "a JWS is bound to the purchase in the proofs that the customer made", arguments: ["FAMILY_SHARED", "ASSIGNED"])
    func boundToOwn(ownership: String) async throws {
        let service = try StoreService(Self.offers)
        let shared = Self.transaction("2000").with("inAppOwnershipType", "\"\(ownership)\"")
            .with("subscriptionGroupIdentifier", #""99""#).with("productId", #""other""#)
            .with("purchaseDate", "\(Sample.day(5).milliseconds)")
        let decision = try await service.decide(
            StoreService.token() + "," + Self.proofs([Self.transaction(), shared], [Self.renewal()]))
        let jws = try #require(decision.offers.first?["compactJWS"] as? String, "\(decision.response.text)")
        #expect(Base64URL.json(jws.split(separator: ".")[1])?["transactionId"] as? String == "1000")
    }

    @Test("proofs are merged also when nothing is signed")
    func merged() async throws {
        let service = try StoreService(Self.offers)
        let proofs = try Self.proofs([Self.transaction(account: 1)], [Self.renewal(account: 1, autoRenew: true)])
        let first = try await service.decide(StoreService.token() + #","sign":false,"# + proofs)
        #expect(first.refused["keep"] == ["auto_renew"])
        #expect(try await service.decide().refused["keep"] == ["auto_renew"], "now known without proofs")
    }

    @Test("a proof of another account is refused, and so is one that the store knows as another's")
    func another() async throws {
        let service = try StoreService(Self.offers)
        let named = try Self.proofs([Self.transaction(account: 2)])
        let token = try await service.decide(StoreService.token() + "," + named)
        #expect(token.response.status == 422 && token.json["code"] as? String == "another_customers_proof")
        #expect(token.json["field"] as? String == "proofs")
        // A username appears in no signed data, so nothing contradicts it.
        let username = try await service.decide(#""applicationUsername":"u","# + named)
        #expect(username.signed == ["keep"])
        try await service.store.link(
            .applicationUsername(Sample.text("v")), to: .appAccountToken(Sample.token(2)), in: Sample.production,
            at: Sample.day(3))
        let linked = try await service.decide(#""applicationUsername":"u","# + named)
        #expect(linked.json["code"] as? String == "another_customers_proof", "account 2 is the username v")
        let own = try await service.decide(#""applicationUsername":"v","sign":false,"# + named)
        #expect(own.response.status == 200)
        // The App Store's data names nobody, but the store knows whose it is.
        try await service.addSubscriber("5000", account: 3, autoRenew: false)
        let later = Self.transaction("5001").with("originalTransactionId", #""5000""#)
        let anonymous = try Self.proofs([later], [Self.renewal("5000")])
        let stranger = try await service.decide(StoreService.token(4) + "," + anonymous)
        #expect(stranger.json["code"] as? String == "another_customers_proof")
    }

    @Test("a transaction ID proves nothing by itself")
    func transactionID() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await service.addSubscriber("5000", account: 3, autoRenew: false)
        try await service.addSubscriber("1000", account: 1, autoRenew: false)
        let claimed = try await service.decide(StoreService.token(9) + #","transactionID":"5000""#)
        #expect(claimed.json["code"] as? String == "another_customers_transaction")
        let own = try await service.decide(StoreService.token(1) + #","transactionID":"1000""#)
        #expect(own.signed == ["keep"])
        // One that nobody knows is not signed.
        let unknown = try await service.decide(StoreService.token(1) + #","transactionID":"7777""#)
        let jws = try #require(unknown.offers.first?["compactJWS"] as? String)
        #expect(Base64URL.json(jws.split(separator: ".")[1])?["transactionId"] as? String == "1000")
        let nobody = try await service.decide(#""applicationUsername":"","transactionID":"5000""#)
        #expect(nobody.refused["keep"] == ["unknown"])
    }

    @Test("purchases of an Apple Account that is not the customer's are refused, if they do not name the account")
    func anotherAppleAccount() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}, {offerID: back, rule: win_back}")
        try await service.addSubscriber("1000", account: 1) { $0.appTransactionID = Sample.id("700") }
        let friends = try Self.proofs([Self.transaction("2000", appleAccount: "701")], [])
        let refused = try await service.decide(StoreService.token() + "," + friends)
        #expect(refused.json["code"] as? String == "another_customers_proof", "\(refused.response.text)")
        let own = try Self.proofs([Self.transaction("2000", account: 1, appleAccount: "701")], [])
        #expect(try await service.decide(StoreService.token() + "," + own).response.status == 200)
    }

    @Test("the AppTransaction of another Apple Account says nothing of the customer")
    func anothersDownload() async throws {
        let service = try StoreService(
            "{offerID: early, rule: {originalPurchase: {before: 2030-01-01}}}, {offerID: old, rule: {originalAppVersion: {before: \"99\"}}}"
        )
        try await service.addSubscriber("1000", account: 1) { $0.appTransactionID = Sample.id("700") }
        func decide(_ appleAccount: String) async throws -> StoreService.Decision {
            let payload = SamplePayload.appTransaction.with("appTransactionId", "\"\(appleAccount)\"")
                .with("bundleId", #""com.example.app""#)
            return try await service.decide(
                StoreService.token() + #","sign":false,"proofs":{"signedAppTransaction":\#(Self.jws(payload))}"#)
        }
        let own = try await decide("700")
        #expect(own.eligible == ["early", "old"], "\(own.response.text)")
        let friends = try await decide("701")
        #expect(friends.refused == ["early": ["unknown"], "old": ["unknown"]], "\(friends.response.text)")
    }

    @Test("a first transaction with an old renewal info does not show what was never done")
    func hiddenHistory() async throws {
        let service = try StoreService("{offerID: first, rule: {all: [{rule: win_back}, {redeemed: false}]}}")
        service.setDay(100)
        let decision = try await service.decide(StoreService.token() + "," + Self.proofs())
        #expect(decision.refused["first"] == ["unknown"], "\(decision.response.text)")
    }

    @Test("a lapsed subscription of another Apple Account does not hide one with access")
    func twoAppleAccounts() async throws {
        let service = try StoreService(
            "{offerID: back, rule: win_back}, {offerID: gone, rule: {not: {subscription: {status: active}}}}")
        try await service.addSubscriber("1000", account: 1) {
            $0.appTransactionID = Sample.id("700")
            $0.expiresDate = Sample.day(365)
        }
        try await service.store.merge(
            [
                Sample.transaction("2000", of: "2000", 1, 5) {
                    $0.appAccountToken = Sample.token(1)
                    $0.appTransactionID = Sample.id("701")
                },
                Sample.renewal(of: "2000", signed: 5.1) {
                    $0 = Renewal(productID: $0.productID, autoRenewStatus: .off)
                    $0.expirationIntent = .cancelled
                },
            ], in: Sample.production)
        let decision = try await service.decide()
        #expect(decision.eligible.isEmpty, "\(decision.response.text)")
        #expect(decision.refused["gone"] == ["subscription_status"])
    }

    @Test("proofs must be of one Apple Account, and of the environment that is asked for")
    func severalAccounts() async throws {
        let service = try StoreService(Self.offers)
        let mixed = try Self.proofs([Self.transaction(), Self.transaction("2000", appleAccount: "701")])
        let response = try await service.decide(StoreService.token() + "," + mixed)
        #expect(response.response.status == 422 && response.json["reason"] as? String == "several_apple_accounts")
        let other = try await service.decide(StoreService.token() + #","environment":"Sandbox","# + Self.proofs())
        #expect(other.json["reason"] as? String == "several_environments")
    }

    @Test("an anonymous customer is known by proofs alone")
    func anonymous() async throws {
        let service = try StoreService(Self.offers)
        let decision = try await service.decide(#""applicationUsername":"","# + Self.proofs())
        #expect(decision.signed == ["keep"])
        let again = try await service.decide(#""applicationUsername":"","# + Self.proofs())
        #expect(again.refused["keep"] == ["outstanding"])
    }

    @Test("a receipt that shares no purchase with what the store knows of the account is refused")
    func receiptOfAnother() async throws {
        let service = try StoreService(
            "{offerID: first, rule: {redeemed: false}}", app: "introductoryOffers: {rule: app_store_default}")
        try await service.store.merge(
            [Sample.transaction("1001", of: "1000", 0, 30) { $0.appAccountToken = Sample.token(1) }], in: Sample.sandbox
        )
        let text = try ReceiptSigner.base64(TestReceipt(purchases: [.init()]))
        let decision = try await service.decide(StoreService.token() + #","proofs":{"appReceipt":"\#(text)"}"#)
        #expect(decision.json["code"] as? String == "another_customers_proof", "\(decision.response.text)")
    }

    /// The members of an app whose rule decides about introductory offers.
    private static func app(_ rule: String) -> String {
        "appAppleID: 1234567890\n    introductoryOffers: {rule: \(rule)}"
    }

    /// The answer of `POST /v1/introductory-offers` without a decision of the caller.
    private static func introductory(
        _ service: StoreService, transactionID: String = "1000", _ more: String = ""
    ) async -> HTTPResponse {
        await service.post(
            "/v1/introductory-offers", #""productID":"monthly","transactionID":"\#(transactionID)"\#(more)"#)
    }

    @Test("an introductory offer needs a history that the App Store gave as whole, not one first transaction")
    func introductoryOffers() async throws {
        let service = try StoreService("a", app: Self.app("app_store_default"))
        try await service.addSubscriber("1000", account: 1) { $0.subscriptionGroupID = "2" }
        let unknown = await Self.introductory(service)
        #expect(unknown.status == 422 && unknown.json["code"] as? String == "not_eligible", "\(unknown.text)")
        let granted = await Self.introductory(service, #","allowIntroductoryOffer":true"#)
        #expect(granted.status == 200 && granted.json["allowIntroductoryOffer"] as? Bool == true)
        // The App Store's own answer.
        let history = Sample.history(of: "1000", at: Sample.day(9.5))
        try await service.store.merge([history], in: Sample.production)
        let known = await Self.introductory(service)
        #expect(known.status == 200 && known.json["allowIntroductoryOffer"] as? Bool == true, "\(known.text)")
        // A clear no is signed too.
        try await service.addSubscriber("2000", account: 1)
        try await service.store.merge(
            [Sample.history(of: "2000", at: Sample.day(9.5))], in: Sample.production)
        let subscribed = await Self.introductory(service, transactionID: "2000")
        #expect(subscribed.status == 200 && subscribed.json["allowIntroductoryOffer"] as? Bool == false)
    }

    @Test("a rule for introductory offers is counted, and its requests are limited before anything is asked")
    func limitedIntroductoryOffers() async throws {
        let service = try StoreService("a", app: Self.app("app_store_default"))
        try await service.addSubscriber("1000", account: 1)
        let response = await Self.introductory(service)
        #expect(response.status == 200 || response.status == 422)
        #expect(
            service.routes.scrape().values.contains {
                $0.key.hasPrefix("offer_signer_decisions_total") && $0.key.contains(#"rule="app_store_default""#)
            })
    }

    @Test("proofs of another Apple Account do not decide about a transaction")
    func anothersIntroductoryOffer() async throws {
        let service = try StoreService("a", app: Self.app("{everSubscribed: true}"))
        try await service.addSubscriber("5000", account: 1)
        let response = await Self.introductory(service, transactionID: "5000", "," + (try Self.proofs()))
        #expect(response.json["code"] as? String == "another_customers_transaction", "\(response.text)")
        let own = await Self.introductory(service, "," + (try Self.proofs()))
        #expect(own.status == 200, "\(own.text)")
        let both = await Self.introductory(
            service, #","allowIntroductoryOffer":true,"# + (try Self.proofs()))
        #expect(both.status == 400 && both.json["code"] as? String == "conflicting_fields")
    }
}
