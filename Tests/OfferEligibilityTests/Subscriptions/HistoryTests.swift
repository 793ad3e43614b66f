import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("What a customer ever did")
struct HistoryTests {
    private typealias Make = TestFacts

    private static let trial: @Sendable (inout Purchase) -> Void = {
        $0.offer = AppliedOffer(type: .introductory, discountType: .freeTrial)
    }

    @Test("a yes needs one witness")
    func yes() throws {
        let state = SubscriberState([try Make.transaction("5", 0, 30, Self.trial)], at: .day(1))
        #expect(!state.history.isOfApp)
        #expect(state.everSubscribed == true)
        #expect(state.usedIntroductoryOffer(inGroup: "g") == true)
        #expect(state.everRefunded == nil)
    }

    @Test("a no needs a history that is complete for the app; a group without gaps is known for that group alone")
    func no() throws {
        let middle = [try Make.transaction("5", 120, 150)]
        #expect(SubscriberState(middle, at: .day(121)).usedIntroductoryOffer(inGroup: "g") == nil)
        let gap = middle + [try Make.transaction("1", 0, 30)]
        #expect(SubscriberState(gap, at: .day(121)).history.groups.isEmpty, "three periods are missing")
        let whole = try gap + (1...3).map { try Make.transaction("\($0 + 1)", Double($0) * 30, Double($0 + 1) * 30) }
        let state = SubscriberState(whole, at: .day(121))
        #expect(state.history.groups == ["g"] && !state.history.isOfApp)
        #expect(state.usedIntroductoryOffer(inGroup: "g") == nil)
        #expect(state.owns(try ProductID("lifetime")) == nil && state.everRefunded == nil)
        let given = SubscriberState(middle + [try Make.history(signed: 121)], at: .day(121))
        #expect(given.history.isOfApp && given.usedIntroductoryOffer(inGroup: "g") == false)
        let other = whole + [try Make.transaction("8", of: "7", 0, 30) { $0.subscriptionGroupID = "h" }]
        #expect(SubscriberState(other, at: .day(121)).history.groups == ["g"])
        let unnamed = whole + [try Make.transaction("7", of: "7", 0, 30) { $0.subscriptionGroupID = nil }]
        #expect(SubscriberState(unnamed, at: .day(121)).history.groups.isEmpty, "it may be in any group")
        let two =
            try whole + [
                Make.transaction("7", of: "7", 0, 200) { $0.appTransactionID = try TransactionID("A") },
                Make.transaction("8", of: "8", 0, 200) { $0.appTransactionID = try TransactionID("B") },
            ]
        #expect(
            SubscriberState(two, at: .day(121)).history.groups.isEmpty, "each Apple Account has a history of its own")
    }

    @Test("a complete history counts while it is fresh, or while every later notification is known")
    func freshness() throws {
        let ofA: (inout Purchase) throws -> Void = { $0.appTransactionID = try TransactionID("A") }
        let facts = [try Make.transaction("5", 120, 150, ofA), try Make.history(signed: 121)]
        func isComplete(_ facts: [SubscriberFact], at day: Double, _ evidence: HistoryEvidence = HistoryEvidence())
            -> Bool
        {
            SubscriberState(facts, evidence: evidence, at: .day(day)).history.isOfApp
        }
        func covering(_ since: Double, _ until: Double, isEverythingRead: Bool = true) -> HistoryEvidence {
            HistoryEvidence(
                coverage: HistoryEvidence.Coverage(since: .day(since), until: .day(until)),
                isEverythingRead: isEverythingRead)
        }
        #expect(isComplete(facts, at: 122) && !isComplete(facts, at: 122.01))
        #expect(isComplete(facts, at: 130, HistoryEvidence(freshness: .days(9))))
        #expect(isComplete(facts, at: 400, covering(121, 399.5)))
        let unnamed = [try Make.transaction("5", 120, 150), facts[1]]
        #expect(isComplete(unnamed, at: 122) && !isComplete(unnamed, at: 400, covering(121, 399.5)))
        #expect(!isComplete(facts, at: 400, covering(121.01, 399.5)), "notifications before may be missing")
        #expect(!isComplete(facts, at: 400, covering(121, 398.9)), "later ones may be missing")
        #expect(!isComplete(facts, at: 400, covering(121, 399.5, isEverythingRead: false)))
        let later = try facts + [Make.transaction("9", of: "9", 140, 170) { $0.subscriptionGroupID = "h" }]
        #expect(!isComplete(later, at: 141, covering(121, 141)), "nothing says whose the other purchase is")
        func ofOne(_ id: String) -> (inout Purchase) throws -> Void { { $0.appTransactionID = try TransactionID(id) } }
        let known = try [
            Make.transaction("5", 120, 150, ofOne("A")), facts[1], Make.transaction("9", of: "9", 140, 170, ofOne("A")),
        ]
        #expect(isComplete(known, at: 141, covering(121, 141)), "a later purchase of the Apple Account is known")
        let another = try known.dropLast() + [Make.transaction("9", of: "9", 140, 170, ofOne("B"))]
        #expect(!isComplete(Array(another), at: 141, covering(121, 141)))
        #expect(
            KnownHistory.gaps(in: SubscriberFacts(Array(another)), covering(121, 141), at: .day(141)).map(
                \.text.description) == ["9"])
    }

    @Test(
        "a family share or a seat says nothing about what the customer bought in its group",
        arguments: [OwnershipType.familyShared, .assigned, OwnershipType(rawValue: "FUTURE"), nil])
    func shares(ownership: OwnershipType?) throws {
        func groups(_ facts: [SubscriberFact]) -> Set<String> { SubscriberState(facts, at: .day(10)).history.groups }
        let share = try Make.transaction("5", of: "5", 0, 30) { $0.ownership = ownership }
        let own = try Make.transaction("1", 0, 30)
        #expect(groups([share]).isEmpty, "the customer's own subscription in the group may be withheld")
        #expect(groups([share, own]) == ["g"])
        let gap = try Make.transaction("2", 0, 30)
        #expect(groups([share, gap]).isEmpty)
        let late = try Make.transaction("6", of: "5", 0, 30) { $0.ownership = ownership }
        #expect(groups([late, own]) == (ownership == nil ? [] : ["g"]), "it may be the customer's own, with a gap")
    }

    @Test(
        "what another person paid in the group is neither a renewal nor paid time of the customer",
        arguments: [OwnershipType.familyShared, .assigned, nil])
    func paidByOthers(ownership: OwnershipType?) throws {
        let share: [SubscriberFact] = try [("50", -60), ("51", -30), ("52", 0)].map { (id: String, start: Double) in
            try Make.transaction(id, of: "50", start, start + 30) {
                $0.ownership = ownership
                $0.reason = id == "50" ? .purchase : .renewal
            }
        }
        let own = try Make.transaction("60", of: "60", 15, 45) { $0.reason = .purchase }
        let state = SubscriberState(share + [own], at: .day(20))
        let bought = try #require(state.subscriptions.first { $0.originalTransactionID.text.description == "60" })
        #expect(bought.renewals == 0 && bought.paidFor == .days(5), "\(bought.renewals) \(bought.paidFor)")
        let others = state.subscriptions.filter { $0.originalTransactionID != bought.originalTransactionID }
        #expect(others.map(\.status) == [.active], "it is not replaced")
    }

    @Test("a group is known to a period that runs, or to an end that the App Store has stated after it")
    func end() throws {
        let first = try Make.transaction("1", 0, 30)
        let off = try Make.renewal(signed: 5, .off)
        func isKnown(_ facts: [SubscriberFact], at day: Double = 100, freshness: Duration = .days(70)) -> Bool {
            SubscriberState([first] + facts, evidence: HistoryEvidence(freshness: freshness), at: .day(day))
                .history.groups == ["g"]
        }
        #expect(!isKnown([try Make.renewal(signed: 30, .off)], freshness: .days(69)), "something may have followed")
        #expect(isKnown([off], at: 29))
        #expect(!isKnown([off]), "the renewal info is from before the end: what followed may be hidden")
        #expect(isKnown([try Make.renewal(signed: 30, .off)]))
        #expect(!isKnown([try Make.renewal(signed: 30, .on)]))
        #expect(isKnown([try Make.renewal(signed: 30) { $0.expirationIntent = .cancelled }]))
        #expect(isKnown([try Make.renewal(signed: 30) { $0.isInBillingRetryPeriod = true }]))
        #expect(
            !isKnown([
                try Make.renewal(signed: 95, .off) {
                    $0.expirationIntent = .cancelled
                    $0.renewalDate = .day(90)
                }
            ]), "it tells of a later period")
        #expect(isKnown([try Make.status(.expired, signed: 30)]))
        #expect(!isKnown([try Make.status(.expired, signed: 29)]))
        #expect(!isKnown([try Make.status(.active, signed: 31)]))
        #expect(isKnown([try Make.expired(.voluntary, signed: 30)]))
    }

    @Test(
        "a renewal may come late, but not so late that another one fits in; a purchase after the end or before it may follow others"
    )
    func gaps() throws {
        let first = try Make.transaction("1", 0, 30)
        for (start, isRenewal, expected) in [
            (30, true, true), (30, false, true), (29, true, true), (52, true, true), (53, true, false),
            (60, true, false), (31, false, false), (29, false, false),
        ] as [(Double, Bool, Bool)] {
            let next = try Make.transaction("2", start, start + 30) { $0.reason = isRenewal ? .renewal : .purchase }
            let groups = SubscriberState([first, next], at: .day(start + 1)).history.groups
            #expect(groups == (expected ? ["g"] : []), "\(start) \(isRenewal)")
        }
    }

    @Test("nothing is known of an unknown customer")
    func unknownCustomer() throws {
        let state = SubscriberState([], at: .day(0))
        #expect(state.everSubscribed == nil)
        #expect(state.owns(try ProductID("p")) == nil)
        #expect(
            SubscriberState([], evidence: HistoryEvidence(emptyHistoryDate: .day(0)), at: .day(1)).everSubscribed
                == false)
    }

    @Test("a receipt is a complete history as of its date, and the catalogue or a sibling names the group")
    func receipt() throws {
        guard case .transaction(var purchase) = try Make.transaction("5", 0, 30, Self.trial).value else { return }
        purchase.subscriptionGroupID = nil
        let receipt = [try Make.fact(.receiptTransaction(purchase), "5", of: "1", signed: .day(5))]
        let unnamed = SubscriberState(receipt, at: .day(6))
        #expect(unnamed.history.isOfApp)
        #expect(!SubscriberState(receipt, at: .day(6.1)).history.isOfApp, "it is older than a day")
        #expect(unnamed.usedIntroductoryOffer(inGroup: "g") == nil)
        let named = SubscriberState(receipt, groups: [try ProductID("monthly"): "g"], at: .day(6))
        #expect(named.usedIntroductoryOffer(inGroup: "g") == true)
        #expect(named.usedIntroductoryOffer(inGroup: "h") == false)
        let sibling = SubscriberState(receipt + [try Make.transaction("6", 30, 60)], at: .day(31))
        #expect(sibling.usedIntroductoryOffer(inGroup: "g") == true)
        #expect(sibling["1"]?.subscriptionGroupID == "g")
    }

    @Test("a customer owns a non-consumable until it is refunded")
    func nonConsumable() throws {
        var purchase = Purchase(productID: try ProductID("lifetime"), purchaseDate: .day(0))
        purchase.type = .nonConsumable
        let bought = try Make.fact(.transaction(purchase), "1", of: "1", signed: .day(0))
        purchase.revocation = Revocation(date: .day(2))
        let refunded = try Make.fact(.transaction(purchase), "1", of: "1", signed: .day(2))
        #expect(SubscriberState([bought], at: .day(1)).owns(try ProductID("lifetime")) == true)
        let state = SubscriberState([bought, refunded], at: .day(3))
        #expect(state.owns(try ProductID("lifetime")) == nil)
        #expect(state.refunds.map(\.productID.text.description) == ["lifetime"])
        #expect(state.subscriptions.isEmpty)
    }

    @Test("trap 40: a family member is active, pays for no renewals, and never subscribed")
    func familyMember() throws {
        let facts = try [("5", 0.0), ("6", 30)].map { id, start in
            try Make.transaction(id, of: "5", start, start + 30) { $0.ownership = .familyShared }
        }
        let state = SubscriberState(facts, at: .day(31))
        #expect(state["5"]?.status == .active)
        #expect(state["5"]?.ownership == .familyShared)
        #expect(state["5"]?.renewals == 0)
        #expect(state.everSubscribed == nil)
        let history = try Make.history(of: "5", signed: 31)
        #expect(SubscriberState(facts + [history], at: .day(31)).everSubscribed == false)
        let own = try Make.transaction("7", of: "7", 40, 70)
        #expect(SubscriberState(facts + [own], at: .day(41)).subscriptions.map(\.status) == [.active, .active])
    }

    @Test("trap 6: one customer may have several subscriptions in several groups, each with its own facts")
    func severalSubscriptions() throws {
        let other = try Make.transaction("9", of: "9", 0, 30) { $0.subscriptionGroupID = "h" }
        let facts = [
            try Make.transaction("1", 0, 30), other, try Make.renewal(of: "9", signed: 1, .off),
            try Make.renewal(signed: 1),
        ]
        let state = SubscriberState(facts, at: .day(2))
        #expect(state.subscriptions.map(\.autoRenews) == [true, false])
        #expect(SubscriberState([try Make.renewal(signed: 1)], at: .day(2)).subscriptions.isEmpty)
    }

    @Test(
        "only a stated purchase makes a buyer, and what only a receipt shows counts as bought unless it can be shared")
    func buyers() throws {
        let monthly = try ProductID("monthly")
        let history = try Make.history(signed: 1)
        for (ownership, ever, known) in [
            (.purchased, true, .purchased), (.familyShared, false, .familyShared), (.assigned, false, .assigned),
            (OwnershipType(rawValue: "LENT"), false, .other), (nil, nil, nil),
        ] as [(OwnershipType?, Bool?, Subscription.Ownership?)] {
            let state = SubscriberState(
                [try Make.transaction("1", 0, 30) { $0.ownership = ownership }, history], at: .day(1))
            #expect(state.everSubscribed == ever && state["1"]?.ownership == known, "\(String(describing: ownership))")
        }
        guard case .transaction(var purchase) = try Make.transaction("1", 0, 30).value else { return }
        purchase.ownership = nil
        let facts = SubscriberFacts([try Make.fact(.receiptTransaction(purchase), "1", of: "1", signed: .day(1))])
        for (sharable, ever) in [([], true), ([monthly], nil)] as [(Set<ProductID>, Bool?)] {
            let state = SubscriberState(of: facts, environment: .production, familySharable: sharable, at: .day(1))
            #expect(state.everSubscribed == ever)
            #expect(state["1"]?.ownership == (sharable.isEmpty ? .purchased : nil))
        }
    }

    @Test("a share or a seat that shows an introductory offer or a revocation has used no offer and got no refund")
    func others() throws {
        for ownership in [OwnershipType.familyShared, .assigned, OwnershipType(rawValue: "LENT")] {
            let share = try Make.transaction("1", 0, 30) {
                $0.ownership = ownership
                $0.revocation = Revocation(date: .day(2))
                Self.trial(&$0)
            }
            let state = SubscriberState([share, try Make.history(signed: 3)], at: .day(3))
            #expect(state.usedIntroductoryOffer(inGroup: "g") == false && state.everRefunded == false)
            #expect(state["1"]?.endedBecause == .other && state["1"]?.renewals == 0)
        }
    }
}
