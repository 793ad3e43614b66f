import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("Customers are looked up")
struct CustomerLookupTests {
    private static func account(_ number: UInt64) -> String { #""appAccountToken":"\#(Sample.token(number))""# }

    @Test("an answer has everything that is known, for each environment")
    func everything() async throws {
        let service = try StoreService.customers()
        try await service.addRichCustomer()
        #expect(
            await service.setFacts(#""transactionID":"2","facts":{"b":1.50,"a\"":"x\n"},"environment":"Production""#)
                .status == 204)
        let customers = await service.lookUp(#""transactionID":"2""#)
        #expect(customers.count == 1)
        let answer = await service.send("POST", "/v1/customers/lookup", Self.account(1))
        let expected = """
            {"customers":[{"environment":"Production","appAccountToken":"\(Sample.token(1))","appTransactionID":"A",\
            "subscriptions":[{"originalTransactionID":"1","transactionID":"3","productID":"monthly",\
            "subscriptionGroupID":"21012345","environment":"Production","status":"active","autoRenews":false,\
            "autoRenewProductID":"monthly","expiresAt":\(Sample.day(30).milliseconds),"paidDays":40,"renewals":2,\
            "subscribedSince":\(Sample.day(-60).milliseconds),"lastPeriod":"regular",\
            "pendingOffer":{"type":"win_back","offerID":"back"},"ownership":"purchased",\
            "refunds":[{"transactionID":"1","productID":"monthly","at":\(Sample.day(-40).milliseconds),\
            "reason":"app_issue","percentage":100000}]}],\
            "redemptions":[{"type":"promotional","offerID":"half","productID":"monthly","transactionID":"2",\
            "at":\(Sample.day(-30).milliseconds),"authorised":false},{"type":"win_back","offerID":"back","productID":"monthly",\
            "at":\(Sample.day(1).milliseconds)}],"authorisations":[],"exposures":[],"changes":[],"events":[],"grants":[],"facts":{"a\\"":"x\\u000a","b":1.50},"links":[]},\
            {"environment":"Sandbox","appAccountToken":"\(Sample.token(1))","subscriptions":[\
            {"originalTransactionID":"1","transactionID":"1","productID":"monthly","subscriptionGroupID":"21012345",\
            "environment":"Sandbox","status":"active","expiresAt":\(Sample.day(30).milliseconds),"paidDays":10,"renewals":0,\
            "subscribedSince":\(Sample.day(0).milliseconds),"lastPeriod":"regular","ownership":"purchased"}],\
            "redemptions":[],"authorisations":[],"exposures":[],"changes":[],"events":[],"grants":[],"facts":{},"links":[]}]}
            """
        #expect(answer.text == expected)
    }

    @Test("prices, seats and the changes of renewals are shown")
    func terms() async throws {
        let service = try StoreService.customers()
        let product = try ProductID(utf8: Array("monthly".utf8))
        var purchase = Purchase(productID: product, purchaseDate: Sample.day(0))
        (purchase.type, purchase.expiresDate) = (.autoRenewableSubscription, Sample.day(30))
        (purchase.price, purchase.currency, purchase.quantity) = (4990, "EUR", 12)
        purchase.seats = Seats(
            priceTiers: [PriceTier(price: 6000, quantity: 5), PriceTier(price: 4270, quantity: 7)],
            invitationManagement: .apple, revokedQuantity: 3)
        purchase.commitment = Commitment(
            billingPeriodNumber: 2, totalBillingPeriods: 12, expiresDate: Sample.day(300), price: 59_880)
        (purchase.billingPlan, purchase.storefront) = (.monthly, "DEU")
        var renewal = Renewal(productID: product, autoRenewStatus: .on)
        (renewal.price, renewal.currency, renewal.quantity) = (5990, "EUR", 9)
        (renewal.billingPlan, renewal.autoRenewProductID) = (.monthly, product)
        renewal.priceTiers = [PriceTier(price: 5990, quantity: 9)]
        renewal.commitment = CommitmentRenewal(
            autoRenewProductID: product, autoRenewStatus: .on, billingPlanType: .billedUpFront, date: Sample.day(330),
            price: 49_990)
        let change = RenewalChange(
            type: "DID_CHANGE_RENEWAL_PREF", subtype: "DECREASE_QUANTITY", renewal: renewal)
        let facts = [
            Sample.fact(.transaction(purchase), "1", of: "1", signed: 2),
            Sample.fact(.renewalInfo(renewal), "1", of: "1", signed: 2),
            Sample.fact(.renewalChange(change), "1", of: "1", signed: 2),
        ]
        try await service.store.merge(facts, in: Sample.production)
        let answer = await service.send("POST", "/v1/customers/lookup", #""transactionID":"1""#)
        for expected in [
            #""storefront":"DEU","subscriptions":["#,
            #""billingPlan":"MONTHLY","commitment":{"billingPeriod":2,"totalBillingPeriods":12,"price":59880,"#
                + #""expiresAt":\#(Sample.day(300).milliseconds)},"price":4990"#,
            #""price":4990,"currency":"EUR","seats":12,"refundedSeats":3,"#
                + #""priceTiers":[{"price":4270,"seats":7},{"price":6000,"seats":5}],"invitationManagement":"APPLE","#
                + #""next":{"price":5990,"currency":"EUR","seats":9,"priceTiers":[{"price":5990,"seats":9}],"#
                + #""billingPlan":"MONTHLY"},"afterCommitment":{"productID":"monthly","billingPlan":"BILLED_UPFRONT","#
                + #""at":\#(Sample.day(330).milliseconds),"price":49990,"currency":"EUR"}"#,
            #""changes":[{"type":"DID_CHANGE_RENEWAL_PREF","subtype":"DECREASE_QUANTITY","at":"#
                + "\(Sample.day(2).milliseconds)"
                + #","originalTransactionID":"1","productID":"monthly","autoRenews":true,"autoRenewProductID":"monthly","#
                + #""billingPlan":"MONTHLY","seats":9}]"#,
        ] { #expect(answer.text.contains(expected), "\(answer.text)") }
        // Nothing follows a commitment that was cancelled. Older renewal info says nothing about the next period.
        renewal.commitment?.autoRenewStatus = .off
        try await service.store.merge(
            [Sample.fact(.renewalInfo(renewal), "1", of: "1", signed: 3)], in: Sample.production)
        let cancelled = await service.send("POST", "/v1/customers/lookup", #""transactionID":"1""#)
        #expect(cancelled.text.contains(#""next":"#) && !cancelled.text.contains("afterCommitment"))
        try await service.store.merge(
            [Sample.transaction("2", of: "1", 5, 35) { $0.reason = .purchase }], in: Sample.production)
        let later = await service.send("POST", "/v1/customers/lookup", #""transactionID":"1""#)
        #expect(later.text.contains(#""transactionID":"2""#) && !later.text.contains(#""next":"#), "\(later.text)")
    }

    @Test("seats that were added during a period count, with the average price, and a refund of them shows")
    func addedSeats() async throws {
        let service = try StoreService.customers()
        func item(
            _ id: String, day: Double, seats: Int64, price: Int64, _ change: (inout Purchase) -> Void = { _ in }
        ) -> SubscriberFact {
            Sample.transaction(id, of: "1", day, 30, signed: day) { purchase in
                (purchase.quantity, purchase.price, purchase.currency) = (seats, price, "EUR")
                (purchase.webOrderLineItemID, purchase.reason) = ("w\(id)", .purchase)
                change(&purchase)
            }
        }
        func added(_ price: Int64, _ count: Int64) -> (inout Purchase) -> Void {
            { purchase in
                purchase.additionalReason = .seatAddition
                purchase.seats = Seats(
                    priceTiers: [PriceTier(price: price, quantity: count)], invitationManagement: .apple)
            }
        }
        let facts = [
            // The App Store did not send the first transaction again, and lists another one twice, after a restore.
            item("1", day: 0, seats: 1, price: 5000), item("2", day: 3, seats: 15, price: 4000, added(4000, 15)),
            item("3", day: 3, seats: 15, price: 4000) {
                added(4000, 15)(&$0)
                $0.webOrderLineItemID = "w2"
            },
            item("4", day: 5, seats: 2, price: 4000) {
                added(4000, 2)(&$0)
                $0.revocation = Revocation(date: Sample.day(6))
            },
            // The period before had seats too.
            Sample.transaction("0", of: "1", -30, 0) { $0.quantity = 40 },
        ]
        try await service.store.merge(facts, in: Sample.production)
        let answer = await service.send("POST", "/v1/customers/lookup", #""originalTransactionID":"1""#)
        // 73,000 / 18 is 4,055.6.
        let price = 4056
        #expect(
            answer.text.contains(
                #""price":\#(price),"currency":"EUR","seats":18,"refundedSeats":2,"priceTiers":[{"price":4000,"seats":17}],"#
                    + #""invitationManagement":"APPLE","additionalTransactionReason":"SEAT_ADDITION""#),
            "\(answer.text)")
    }

    @Test("an order ID is refused where the App Store is not asked in production")
    func order() async throws {
        let service = try StoreService.customers()
        let answer = await service.post("/v1/customers/lookup", #""orderID":"MK5TTTVWJH""#)
        #expect(answer.status == 422 && answer.json["code"] as? String == "app_store_not_queried", "\(answer.text)")
    }

    @Test("the user of a seat and a family member pay nothing", arguments: [OwnershipType.assigned, .familyShared])
    func shares(ownership: OwnershipType) async throws {
        let service = try StoreService.customers()
        let copy = Sample.transaction("1", of: "1", 0, 30) { purchase in
            (purchase.price, purchase.currency, purchase.quantity) = (4990, "EUR", 12)
            purchase.seats = Seats(priceTiers: [PriceTier(price: 4990, quantity: 12)], invitationManagement: .apple)
            purchase.commitment = Commitment(billingPeriodNumber: 2, totalBillingPeriods: 12, price: 59_880)
            purchase.ownership = ownership
        }
        let renewal = Sample.renewal(of: "1", signed: 1) { renewal in
            (renewal.price, renewal.currency, renewal.quantity) = (5990, "EUR", 9)
        }
        try await service.store.merge([copy, renewal], in: Sample.production)
        let answer = await service.send("POST", "/v1/customers/lookup", #""transactionID":"1""#)
        #expect(answer.text.contains(#""commitment":{"billingPeriod":2,"totalBillingPeriods":12}"#), "\(answer.text)")
        #expect(!answer.text.contains("rice") && !answer.text.contains("seats"), "\(answer.text)")
    }

    @Test("a subscription that is not settled says so, and leaves out what is not known")
    func unsettled() async throws {
        let service = try StoreService.customers()
        let facts = [Sample.transaction("1", of: "1", -21, 9), Sample.renewal(of: "1", signed: -21)]
        try await service.store.merge(facts, in: Sample.production)
        let customers = await service.lookUp(#""transactionID":"1""#)
        let subscription = try #require((customers.first?["subscriptions"] as? [[String: Any]])?.first)
        #expect(subscription["status"] as? String == "expired" && subscription["settled"] as? Bool == false)
        for member in ["endedAt", "endedBecause", "renewals", "subscribedSince"] {
            #expect(subscription[member] == nil, "\(member)")
        }
    }

    @Test("products that were bought once are listed, the oldest first, without refunded ones and those of the family")
    func oneTimePurchases() async throws {
        let service = try StoreService.customers()
        func purchase(_ id: String, _ product: String, _ type: ProductType?, day: Double) throws -> Purchase {
            var purchase = Purchase(productID: try ProductID(utf8: Array(product.utf8)), purchaseDate: Sample.day(day))
            (purchase.type, purchase.appAccountToken) = (type, Sample.token(1))
            return purchase
        }
        var refunded = try purchase("3", "refunded", .nonConsumable, day: 3)
        refunded.revocation = Revocation(date: Sample.day(4))
        var shared = try purchase("4", "shared", .nonConsumable, day: 4)
        shared.ownership = .familyShared
        let purchases = [
            ("1", try purchase("1", "lifetime", .nonConsumable, day: 5)),
            ("2", try purchase("2", "season", .nonRenewingSubscription, day: 2)), ("3", refunded), ("4", shared),
            ("5", try purchase("5", "coins", .consumable, day: 1)), ("6", try purchase("6", "old", nil, day: 0)),
        ]
        try await service.store.merge(
            purchases.map { Sample.fact(.transaction($1), $0, of: $0, signed: 6) }, in: Sample.production)
        let answer = await service.send("POST", "/v1/customers/lookup", Self.account(1))
        func day(_ day: Double) -> Int64 { Sample.day(day).milliseconds }
        let expected = """
            "purchases":[{"transactionID":"6","productID":"old","at":\(day(0))},\
            {"transactionID":"2","productID":"season","type":"non_renewing_subscription","at":\(day(2))},\
            {"transactionID":"1","productID":"lifetime","type":"non_consumable","at":\(day(5))}]
            """
        #expect(answer.text.contains(expected), "\(answer.text)")
    }

    @Test("paid days are absent while an earlier period may be missing")
    func paidDays() async throws {
        let service = try StoreService.customers()
        func days() async throws -> Int? {
            let customers = await service.lookUp(#""originalTransactionID":"1""#)
            let subscription = try #require((customers.first?["subscriptions"] as? [[String: Any]])?.first)
            return subscription["paidDays"] as? Int
        }
        // The second period, which ends on day 31.
        try await service.store.merge([Sample.transaction("2", of: "1", 1, 31)], in: Sample.production)
        #expect(try await days() == nil)
        try await service.store.merge([Sample.transaction("1", of: "1", -29, 1)], in: Sample.production)
        #expect(try await days() == 39)
    }

    @Test(
        "an unknown customer gets an empty list",
        arguments: [
            #""appAccountToken":"D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10""#, #""applicationUsername":"u""#,
            #""appTransactionID":"1""#, #""originalTransactionID":"1""#, #""transactionID":"1""#,
        ])
    func unknown(members: String) async throws {
        let answer = await (try StoreService.customers()).send("POST", "/v1/customers/lookup", members)
        #expect(answer.status == 200 && answer.text == #"{"customers":[]}"#)
    }

    @Test("environment limits the answer to one")
    func environment() async throws {
        let service = try StoreService.customers()
        try await service.addRichCustomer()
        func environments(_ members: String) async -> [String] {
            await service.lookUp(members).compactMap { $0["environment"] as? String }
        }
        #expect(await environments(Self.account(1)) == ["Production", "Sandbox"])
        #expect(await environments(Self.account(1) + #","environment":"Sandbox""#) == ["Sandbox"])
        #expect(await environments(Self.account(1) + #","environment":"Xcode""#) == [])
    }

    @Test(
        "the ownership policy decides whose a subscription is that two accounts have bought",
        arguments: [
            (OwnershipPolicy.first, [["1"], []]), (.transfer, [[], ["1"]]), (.share, [["1"], ["1"]]),
        ])
    func ownership(policy: OwnershipPolicy, expected: [[String]]) async throws {
        let service = try StoreService.customers(ownership: policy)
        // The later purchase arrives first.
        try await service.add("2", of: "1", account: 2, start: 30)
        try await service.add("1", account: 1)
        #expect(await service.subscriptions(Self.account(1)) == expected[0])
        #expect(await service.subscriptions(Self.account(2)) == expected[1])
        #expect(
            await service.subscriptions(#""transactionID":"2""#) == ["1"], "an App Store identifier shows everything")
    }

    @Test("an account that owns nothing is not known, although it bought a period of another account's subscription")
    func leftOut() async throws {
        let service = try StoreService.customers()
        try await service.add("1", account: 1)
        try await service.add("2", of: "1", account: 2, start: 30)
        #expect(
            await service.setFacts(#""originalTransactionID":"1","environment":"Production","facts":{"a":1}"#).status
                == 204)
        #expect(await service.lookUp(Self.account(2)).isEmpty)
        #expect(await service.lookUp(Self.account(1)).first?["facts"] as? [String: Int] == ["a": 1])
    }

    @Test("a link moves a subscription to an account until it is undone")
    func moved() async throws {
        let service = try StoreService.customers()
        try await service.add("1", account: 1)
        try await service.add("2", of: "1", account: 1, start: 30)
        let link = #""environment":"Production","transactionID":"2","#
        #expect(await service.link(link + Self.account(2)).status == 204)
        #expect(await service.subscriptions(Self.account(1)) == [])
        #expect(await service.subscriptions(Self.account(2)) == ["1"])
        let customer = try #require(await service.lookUp(#""transactionID":"1""#).first)
        #expect(customer["appAccountToken"] as? String == "\(Sample.token(2))")
        #expect(
            customer["links"] as? [[String: String]]
                == [["originalTransactionID": "1", "appAccountToken": "\(Sample.token(2))"]])
        #expect(await service.link(link + #""appAccountToken":null"#).status == 204)
        #expect(await service.subscriptions(Self.account(1)) == ["1"])
        #expect(await service.lookUp(Self.account(2)).isEmpty)
    }

    @Test("an anonymous purchase belongs to the username that it is linked to, and to the username's token")
    func anonymous() async throws {
        let service = try StoreService.customers(environments: [.production])
        try await service.add("1", appleAccount: "A")
        #expect(await service.link(#""appTransactionID":"A","applicationUsername":"u""#).status == 204)
        #expect(await service.subscriptions(#""applicationUsername":"u""#) == ["1"])
        #expect(await service.link(#""applicationUsername":"u",\#(Self.account(3))"#).status == 204)
        let customer = try #require(await service.lookUp(#""applicationUsername":"u""#).first)
        #expect(customer["appAccountToken"] as? String == "\(Sample.token(3))")
        #expect(customer["applicationUsername"] as? String == "u")
        #expect(await service.link(#""applicationUsername":"u","appAccountToken":null"#).status == 204)
        #expect(await service.lookUp(Self.account(3)).isEmpty)
        #expect(await service.link(#""appTransactionID":"A","applicationUsername":null"#).status == 204)
        #expect(await service.lookUp(#""applicationUsername":"u""#).isEmpty)
    }

    @Test("a link of an Apple Account does not take a subscription from the account that bought it")
    func appleAccountOfSeveral() async throws {
        let service = try StoreService.customers(environments: [.production])
        try await service.add("1", account: 1, appleAccount: "A")
        try await service.add("2", appleAccount: "A")
        #expect(await service.link(#""appTransactionID":"A",\#(Self.account(2))"#).status == 204)
        #expect(await service.subscriptions(Self.account(1)) == ["1"])
        #expect(await service.subscriptions(Self.account(2)) == ["2"])
        #expect(await service.lookUp(Self.account(1)).first?["links"] as? [[String: String]] == [])
    }

    @Test("an answer about more subscriptions than are read says that it is not complete")
    func incomplete() async throws {
        let service = try StoreService.customers()
        let count = StoredCustomer.maximumSubscriptions
        for number in 0...count {
            try await service.store.merge(Sample.facts(number, account: 1), in: Sample.production)
        }
        let customer = try #require(await service.lookUp(Self.account(1)).first)
        #expect((customer["subscriptions"] as? [Any])?.count == count && customer["complete"] as? Bool == false)
        #expect(await service.lookUp(#""originalTransactionID":"unknown""#).isEmpty)
    }
}
