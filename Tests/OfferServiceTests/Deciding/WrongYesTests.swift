import AppStoreData
import Foundation
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferService
@testable import SubscriberSync

/// Ways in which someone once got an offer, or would get one, who must not have it.
@Suite("No wrong yes")
struct WrongYesTests {
    private typealias Proofs = DecisionProofTests

    private static let active = "{offerID: keep, rule: {subscription: {status: active}}}"

    /// A subscription without an account, of an Apple Account.
    private static func add(
        _ original: String, account: UInt64? = nil, appleAccount: String? = "700", to service: StoreService,
        start: Double = 0, end: Double = 30, _ change: (inout Purchase) -> Void = { _ in }
    ) async throws {
        let fact = Sample.transaction(original, of: original, start, end, signed: 5) {
            $0.appAccountToken = account.map(Sample.token)
            $0.appTransactionID = appleAccount.map(Sample.id)
            change(&$0)
        }
        let renewal = Sample.renewal(of: original, signed: 5) {
            $0.appAccountToken = account.map(Sample.token)
            $0.appTransactionID = appleAccount.map(Sample.id)
        }
        try await service.store.merge([fact, renewal], in: Sample.production)
    }

    /// Consumables with lower numbers than any subscription of these tests.
    private static func padding(_ count: Int = 25) -> [SamplePayload] {
        (0..<count).map { number in
            Proofs.transaction("\(100 + number)").with("type", #""Consumable""#).with("productId", #""coins""#)
                .without("expiresDate", "subscriptionGroupIdentifier")
        }
    }

    // MARK: A. Data is not looked up

    @Test("however many purchases proofs show, the store's word on each counts")
    func padded() async throws {
        let service = try StoreService(Self.active)
        try await Self.add("1000", to: service) { $0.revocation = Revocation(date: Sample.day(4)) }
        let shown = try Proofs.proofs(Self.padding() + [Proofs.transaction()], [Proofs.renewal()])
        let refunded = try await service.decide(StoreService.token() + "," + shown)
        #expect(refunded.refused["keep"] == ["subscription_status"], "\(refunded.response.text)")
        // A caller has linked the purchase to another account.
        try await service.store.link(
            .originalTransactionID(Sample.id("1000")), to: .appAccountToken(Sample.token(2)), in: Sample.production,
            at: Sample.day(6))
        let linked = try await service.decide(StoreService.token() + "," + shown)
        #expect(linked.json["code"] as? String == "another_customers_proof")
    }

    @Test("the Apple Account of the proofs is looked up")
    func appleAccount() async throws {
        let service = try StoreService("{offerID: keep, rule: {not: {refunded: true}}}")
        try await Self.add("900", to: service, start: -60, end: -30) {
            $0.revocation = Revocation(date: Sample.day(-40))
        }
        try await service.store.merge([Sample.history(of: "900", at: Sample.day(9.9))], in: Sample.production)
        let decision = try await service.decide(StoreService.token() + "," + Proofs.proofs())
        #expect(decision.refused["keep"] == ["refunded"], "\(decision.response.text)")
    }

    // MARK: B. Never is guessed

    private static let nevers = [
        "not: {owns: lifetime}", "refunded: false", "not: {redeemed: true}", "not: {redeemed: {offer: other}}",
        "share: {of: 1, by: s}", "not: {subscription: {group: any, status: expired}}", "usedIntroductoryOffer: false",
        "not: {subscription: {group: '99', status: active}}",
    ]

    @Test("a subscription without gaps proves nothing beyond its group", arguments: nevers)
    func gapless(rule: String) async throws {
        let service = try StoreService("{offerID: keep, rule: {\(rule)}}")
        try await service.addSubscriber()
        let guessed = try await service.decide()
        #expect(guessed.refused["keep"] == ["unknown"], "\(guessed.response.text)")
        // With the App Store's own history, the same customer may have it.
        try await service.store.merge([Sample.history(of: "1000", at: Sample.day(9.5))], in: Sample.production)
        #expect(try await service.decide(StoreService.token() + #","sign":false"#).eligible == ["keep"])
    }

    @Test("a group without gaps tells of the offers that the catalogue has in it")
    func group() async throws {
        let service = try StoreService("keep, {offerID: once, rule: {not: {redeemed: {offer: [keep, once]}}}}")
        try await service.addSubscriber()
        #expect(try await service.decide().signed == ["once"])
    }

    @Test("a history counts for a day, or while every notification since then is known")
    func freshness() async throws {
        let service = try StoreService("{offerID: keep, rule: {not: {owns: lifetime}}}")
        try await service.addSubscriber { $0.appTransactionID = Sample.id("700") }
        try await service.store.merge([Sample.history(of: "1000", at: Sample.day(5))], in: Sample.production)
        func refused() async throws -> [String]? {
            try await service.decide(StoreService.token() + #","sign":false"#).refused["keep"]
        }
        #expect(try await refused() == ["unknown"], "a purchase may have been missed since")
        for (since, until, expected) in [(5.1, 9.5, ["unknown"]), (4, 8.9, ["unknown"]), (4, 9.5, nil)]
            as [(Double, Double, [String]?)]
        {
            try await service.store.setRecoveryCheckpoint(
                Sample.day(until), since: Sample.day(since), continuing: false, of: Sample.production,
                at: Sample.day(until - 1))
            #expect(try await refused() == expected, "\(since) \(until)")
        }
        // A purchase in another group that a notification brings later changes nothing.
        try await service.addSubscriber("2000") { $0.subscriptionGroupID = "99" }
        #expect(try await refused() == ["unknown"], "it names no Apple Account")
    }

    @Test("the App Store's history of an Apple Account covers what it buys later")
    func later() async throws {
        let service = try StoreService("{offerID: keep, rule: {not: {owns: lifetime}}}")
        try await Self.add("1000", account: 1, to: service)
        try await service.store.merge([Sample.history(of: "1000", at: Sample.day(5))], in: Sample.production)
        try await service.store.setRecoveryCheckpoint(
            Sample.day(9.9), since: Sample.day(4), continuing: false, of: Sample.production, at: Sample.day(9.9))
        try await Self.add("2000", account: 1, to: service) { $0.subscriptionGroupID = "99" }
        #expect(try await service.decide(StoreService.token() + #","sign":false"#).eligible == ["keep"])
        try await Self.add("3000", account: 1, appleAccount: "701", to: service) { $0.subscriptionGroupID = "98" }
        #expect(try await service.decide().refused["keep"] == ["unknown"], "another Apple Account")
    }

    // MARK: C. Chains

    /// Account 2 has a lapsed subscription on its Apple Account. Someone else has once bought with its token.
    private static func sharedTablet(_ service: StoreService) async throws {
        try await add("5000", account: 2, appleAccount: "702", to: service, start: -90, end: -60)
        try await add("4000", account: 2, appleAccount: "700", to: service) { $0.subscriptionGroupID = "99" }
    }

    @Test("one purchase with another person's token leads to nothing of that person")
    func chain() async throws {
        let service = try StoreService(
            "{offerID: back, rule: {subscription: {status: expired}}, limits: {perCustomer: 1}}")
        try await Self.sharedTablet(service)
        for name in [StoreService.token(9), #""applicationUsername":"""#] {
            let proofs = try Proofs.proofs([Proofs.transaction(account: 9)], [Proofs.renewal(account: 9)])
            let stranger = try await service.decide(name + "," + proofs)
            #expect(stranger.signed == [], "\(stranger.response.text)")
        }
        let own = try await service.decide(StoreService.token(2))
        #expect(own.signed == ["back"], "\(own.response.text)")
    }

    @Test("a reservation by an Apple Account takes no slot of the person whose token it once used")
    func chainedSlot() async throws {
        let service = try StoreService(
            "{offerID: keep, rule: {subscription: {status: active, group: any}}, limits: {perCustomer: 1}}")
        try await Self.add("5000", account: 2, appleAccount: "702", to: service)
        let customer = try await service.store.customers(
            CustomerQuery(.originalTransactionID(Sample.id("5000"))), bundleID: Sample.bundleID,
            environment: .production)
        try await Self.add("4000", account: 2, appleAccount: "700", to: service) { $0.subscriptionGroupID = "99" }
        try await Self.add("1000", account: 9, appleAccount: "700", to: service)
        let stored = try #require(
            try await service.store.customers(
                known: .originalTransactionID(Sample.id("1000")), bundleID: Sample.bundleID, environment: .production
            ).first)
        let holders = try #require(OwnedCustomer(stored, known: .originalTransactionID(Sample.id("1000")), by: .first))
            .holders
        #expect(
            Set(holders) == [
                Sample.account(9), .originalTransactionID(Sample.id("1000")), .appTransactionID(Sample.id("700")),
            ])
        #expect(customer.count == 1)
    }

    @Test("a retention request leads to the Apple Account's purchases, not to those of another person")
    func retention() async throws {
        let service = try StoreService.retention(
            """
            - rule: {subscription: {status: expired, group: any}}
              promotionalOffer: {productID: monthly, offerID: keep, message: \(Retention.message(1))}
            - message: {default: \(Retention.message(5))}
            """)
        try await Self.add("1000", to: service)
        try await Self.sharedTablet(service)
        try await service.store.setTeamFacts(
            [Sample.text("episodesWatched"): .number(Array("1".utf8))], of: Sample.account(2), in: Sample.production,
            at: Sample.day(1))
        let response = try await service.message()
        #expect(response.status == 200 && response.text.contains(Retention.message(5)), "\(response.text)")
        let entries = try await service.store.ledgerEntries(of: [Sample.account(2)], in: Sample.production)
        #expect(entries.authorisations.isEmpty)
    }

    // MARK: D. Receipts

    @Test("a friend's receipt is refused beside an account with purchases, and beside other transactions")
    func receipt() async throws {
        let service = try StoreService(
            "{offerID: keep, rule: {owns: lifetime}}", app: "environments: [Sandbox]")
        let text = try ReceiptSigner.base64(TestReceipt(purchases: [.init()]))
        let shown = #","proofs":{"appReceipt":"\#(text)"}"#
        let alone = try await service.decide(StoreService.token(3) + shown)
        #expect(alone.response.status == 200, "of an account without purchases, it counts for the request")
        try await service.addSubscriber("7000", account: 1, in: Sample.sandbox)
        let beside = try await service.decide(StoreService.token() + shown)
        #expect(beside.json["code"] as? String == "another_customers_proof", "\(beside.response.text)")
    }

    @Test("what only a receipt shows of a product that can be shared makes no buyer")
    func sharedReceipt() async throws {
        let text = try ReceiptSigner.base64(TestReceipt(purchases: [.init()]))
        for (sharable, expected) in [
            (false, ["subscription.pendingOffer"]), (true, ["subscription.ownership", "subscription.pendingOffer"]),
        ] {
            let service = try StoreService(
                yaml: """
                    apps:
                      - bundleID: com.example.app
                        environments: [Sandbox]
                        sandboxV1: true
                        products:
                          - productID: com.example.app.pro.monthly
                            subscriptionGroupID: "21012345"
                            familySharable: \(sharable)
                            offers: [{offerID: keep, rule: {everSubscribed: true}}]
                    """)
            service.routes.setTime(Timestamp(milliseconds: TestTime.now * 1000))
            let decision = try await service.decide(
                StoreService.token() + #","proofs":{"appReceipt":"\#(text)"}"#)
            let refused = decision.json["refused"] as? [[String: Any]] ?? []
            let reasons = refused.flatMap { $0["reasons"] as? [[String: Any]] ?? [] }
            let facts = Set(reasons.compactMap { $0["fact"] as? String })
            #expect(facts.subtracting(["everSubscribed"]) == Set(expected), "\(sharable): \(decision.response.text)")
        }
    }

    @Test("a stranger's receipt beside one's own app transaction says nothing of an introductory offer")
    func strangersReceipt() async throws {
        let service = try StoreService(
            "a", app: "environments: [Sandbox]\n    introductoryOffers: {rule: {usedIntroductoryOffer: false}}")
        service.routes.setTime(Timestamp(milliseconds: TestTime.now * 1000))
        var purchase = TestReceipt.Purchase()
        purchase.remove(1719)
        let text = try ReceiptSigner.base64(TestReceipt(purchases: [purchase]))
        for (date, isSame) in [("2013-08-01T07:00:00Z", true), ("2020-01-01T00:00:00Z", false)] {
            let time = try #require(Timestamp(dateOrTime: date))
            let appTransaction = try Proofs.jws(
                SamplePayload.appTransaction.with("receiptType", #""Sandbox""#).with("appTransactionId", #""7777""#)
                    .with("originalPurchaseDate", "\(time.milliseconds)"))
            let response = await service.post(
                "/v1/introductory-offers",
                #""productID":"monthly","transactionID":"7777","#
                    + #""proofs":{"signedAppTransaction":\#(appTransaction),"appReceipt":"\#(text)"}"#)
            if isSame {
                #expect(response.json["code"] as? String != "another_customers_proof", "\(response.text)")
            } else {
                #expect(response.json["code"] as? String == "another_customers_proof", "\(response.text)")
            }
        }
    }

    @Test("an end that was stated long ago does not show that nothing followed")
    func oldEnd() async throws {
        let service = try StoreService("{offerID: back, rule: {not: {redeemed: {offer: back}}}}")
        try await service.store.merge(
            [
                Sample.transaction("1000", of: "1000") { $0.appAccountToken = Sample.token(1) },
                Sample.status(2, of: "1000", signed: 30.5),
            ], in: Sample.production)
        service.setDay(31)
        #expect(try await service.decide(StoreService.token() + #","sign":false"#).refused["back"] != ["unknown"])
        service.setDay(90)
        #expect(try await service.decide(StoreService.token() + #","sign":false"#).refused["back"] == ["unknown"])
    }

    // MARK: E. A token sent as a username

    @Test("a username that is a UUID is the account token, however it is spelt")
    func username() async throws {
        let service = try StoreService("{offerID: keep, rule: retention, limits: {perCustomer: 1}}")
        try await service.addSubscriber("1000", account: 1, autoRenew: false)
        let token = Sample.token(1).description
        for name in [token, token.uppercased()] {
            let decision = try await service.decide(#""applicationUsername":"\#(name)","sign":false"#)
            #expect(decision.eligible == ["keep"], "a notification with the token makes the username known")
        }
        let signed = try await service.decide(#""applicationUsername":"\#(token.uppercased())""#)
        #expect(signed.signed == ["keep"])
        #expect(try await service.decide().refused["keep"] == ["outstanding"], "it holds the token's slot")
    }

    @Test("a friend's proofs beside a token are refused under either name")
    func friendsUsername() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let proofs = try Proofs.proofs([Proofs.transaction(account: 2)], [Proofs.renewal(account: 2)])
        let token = Sample.token(1).description
        for name in ["appAccountToken", "applicationUsername"] {
            let decision = try await service.decide(#""\#(name)":"\#(token)","# + proofs)
            #expect(decision.json["code"] as? String == "another_customers_proof", "\(name)")
        }
    }

    @Test("where the proofs name a token, no V1 signature is given for another name")
    func otherName() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let proofs = try Proofs.proofs([Proofs.transaction(account: 2)], [Proofs.renewal(account: 2)])
        for name in [#""applicationUsername":"u""#, #""applicationUsername":"""#] {
            let decision = try await service.decide(name + "," + proofs)
            let offer = try #require(decision.offers.first, "\(decision.response.text)")
            #expect(offer["signature"] == nil && offer["compactJWS"] != nil)
        }
        let own = try await service.decide(StoreService.token(2) + #","sign":false,"# + proofs)
        #expect(own.eligible == ["keep"])
    }

    // MARK: F. Faults

    @Test("a row that cannot be read refuses its customer as unknown, and everyone else is served")
    func unreadableRow() async throws {
        let service = try StoreService(Self.active)
        try await service.addSubscriber("1000", account: 1)
        try await service.addSubscriber("2000", account: 2)
        try await service.store.write(.names([])) { db in
            try db.send(
                """
                UPDATE fact SET value = x'01' WHERE kind = 1
                    AND subscription = (SELECT id FROM subscription WHERE original_transaction_id = '1000')
                """, [])
        }
        let alarm = LedgerAlarm(service)
        for _ in 0..<2 {
            let unread = try await service.decide()
            #expect(unread.response.status == 200 && unread.refused["keep"] == ["unknown"], "\(unread.response.text)")
            #expect(try await service.decide(StoreService.token(2) + #","sign":false"#).eligible == ["keep"])
            #expect(service.current.isHealthy && service.current.unreadable != nil)
        }
        // The alarm still works.
        await alarm.check()
        try await service.addSubscriber("3000", account: 3) {
            $0.offer = AppliedOffer(type: .promotional, identifier: "keep", discountType: .payAsYouGo)
        }
        await alarm.check()
        #expect(service.routes.metrics.sync.figures.unexplainedRedemptions != nil)
    }
}
