import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Seats of groups and organisations")
struct SeatTests {
    /// A transaction of the period from day 0 to day 30, with an offer. Seats that are added later end on the same day.
    private static func seats(
        _ id: String, at start: Double, signed: Double? = nil, reason: AdditionalTransactionReason? = .seatAddition,
        _ change: (inout Purchase) -> Void = { _ in }
    ) throws -> SubscriberFact {
        try TestFacts.transaction(id, start, 30, signed: signed) {
            $0.reason = .purchase
            $0.quantity = 5
            $0.additionalReason = reason
            $0.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payUpFront)
            change(&$0)
        }
    }

    private static func refunded(_ id: String, at start: Double, on day: Double) throws -> SubscriberFact {
        try seats(id, at: start, signed: day) { $0.revocation = Revocation(date: .day(day), type: .fullRefund) }
    }

    @Test(
        "added seats belong to the period: no renewal, and one redemption",
        arguments: [nil, AdditionalTransactionReason.seatAddition])
    func added(firstReason: AdditionalTransactionReason?) throws {
        let facts = [
            try Self.seats("1", at: 0, reason: firstReason), try Self.seats("2", at: 10), try Self.seats("3", at: 20),
        ]
        for order in [facts, facts.reversed()] {
            let state = SubscriberState(order, at: .day(25))
            #expect(state["1"]?.transactionID.text.description == "1")
            #expect(state["1"]?.purchasedAt == .day(0))
            #expect(state["1"]?.renewals == 0)
            #expect(state.redemptions.count == 1)
            #expect(Redemption.promotional(in: order).map(\.at) == [.day(0)])
        }
        let renewed = facts + [try TestFacts.transaction("4", 30, 60) { $0.additionalReason = .seatAddition }]
        #expect(subscription(renewed, at: .day(40))?.renewals == 1)
    }

    @Test("a refund of some seats revokes nothing, closes the request, and is no payment any more")
    func someSeatsRefunded() throws {
        func bought(_ revoked: Int64?, signed: Double) throws -> SubscriberFact {
            try Self.seats("1", at: 0, signed: signed) { purchase in
                (purchase.price, purchase.currency, purchase.quantity) = (4990, "EUR", 12)
                purchase.seats = Seats(
                    priceTiers: [PriceTier(price: 4990, quantity: 12)], invitationManagement: .apple,
                    revokedQuantity: revoked)
            }
        }
        let facts = try [
            bought(3, signed: 12), bought(nil, signed: 0), bought(5, signed: 15),
            TestFacts.fact(.refundRequest(.open), "1", of: "1", signed: .day(11)),
            TestFacts.fact(.refundRequest(.granted), "1", of: "1", signed: .day(12)),
        ]
        for order in [facts, facts.reversed()] {
            let state = SubscriberState(order, at: .day(25))
            #expect(state["1"]?.status == .active && state["1"]?.endedBecause == nil)
            #expect(state.refunds.isEmpty && !state.refundPending)
            #expect(state.everRefunded != true)
        }
        let history = AccessHistory(
            of: SubscriberFacts(facts), inGroupOf: try ProductID("monthly"), of: Catalogue.App(offers: [:]),
            until: .day(25))
        #expect(history.payments.map(\.amount) == [7 * 4990], "of twelve seats, five were refunded")
    }

    @Test("a period is revoked only if all of its transactions are; each refund is known")
    func revoked() throws {
        let one = [try Self.seats("1", at: 0), try Self.refunded("2", at: 10, on: 20)]
        #expect(subscription(one, at: .day(25))?.status == .active)
        #expect(SubscriberState(one, at: .day(25)).refunds.map(\.transactionID.text.description) == ["2"])
        let both = [try Self.refunded("1", at: 0, on: 22), try Self.refunded("2", at: 10, on: 20)]
        for order in [both, both.reversed()] {
            let state = SubscriberState(order, at: .day(25))
            #expect(state["1"]?.status == .revoked)
            #expect(state["1"]?.endedAt == .day(22))
            #expect(state["1"]?.endedBecause == .refunded)
            #expect(state.refunds.count == 2)
        }
    }

    @Test("added seats with an offer that the period does not have are a redemption", arguments: [nil, "other"])
    func addedOffer(ofPeriod identifier: String?) throws {
        let first = try Self.seats("1", at: 0) { purchase in
            purchase.offer = identifier.map { AppliedOffer(type: .promotional, identifier: $0) }
        }
        let redemptions = Redemption.promotional(in: [first, try Self.seats("2", at: 10)])
        #expect(redemptions.last?.offerID == "half" && redemptions.last?.at == .day(10))
        #expect(redemptions.count == (identifier == nil ? 1 : 2))
        let plain = try Self.seats("2", at: 10) { $0.offer = nil }
        #expect(Redemption.promotional(in: [try Self.seats("1", at: 0), plain]).map(\.at) == [.day(0)])
    }

    /// Pay-as-you-go offers run for several periods.
    private static let running = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)

    @Test("added seats with an offer do not replace the period: its renewals, its end and its state stay")
    func addedOfferKeepsThePeriod() throws {
        func facts(refunded: Bool) throws -> [SubscriberFact] {
            let refund = Revocation(date: .day(20), type: .fullRefund)
            return [
                try TestFacts.transaction("1", -30, 0),
                try Self.seats("2", at: 0) { ($0.offer, $0.reason) = (nil, .renewal) },
                try Self.seats("3", at: 10) { ($0.offer, $0.revocation) = (Self.running, refunded ? refund : nil) },
            ]
        }
        for facts in [try facts(refunded: true), try facts(refunded: false)] {
            for order in [facts, facts.reversed()] {
                let state = SubscriberState(order, at: .day(25))
                #expect(state["1"]?.status == .active)
                #expect(state["1"]?.transactionID.text.description == "2")
                #expect(state["1"]?.renewals == 1)
                #expect(state.redemptions.map(\.at) == [.day(10)])
                #expect(state.redemptions.map(\.transactionID?.text.description) == ["3"])
            }
        }
        // The offer runs on in the next period, whichever of its transactions comes first.
        for ids in [("4", "5"), ("5", "4")] {
            let renewed = [
                try TestFacts.transaction(ids.0, 30, 60) { $0.additionalReason = .seatAddition },
                try TestFacts.transaction(ids.1, 30, 60) {
                    ($0.additionalReason, $0.offer) = (.seatAddition, Self.running)
                },
            ]
            let info = try TestFacts.renewal(signed: 11) { $0.renewalDate = .day(30) }
            let announcements = info.announcements(beside: [])
            #expect(!announcements.isEmpty)
            let state = SubscriberState(try facts(refunded: false) + renewed + announcements, at: .day(40))
            #expect(state.redemptions.map(\.isCertain) == [true], "\(ids)")
            #expect(state["1"]?.renewals == 2)
        }
    }

    @Test("an extension of one transaction does not separate the seats")
    func extended() throws {
        let facts = [
            try Self.seats("1", at: 0, signed: 12) { $0.expiresDate = .day(37) },
            try Self.refunded("2", at: 10, on: 20),
        ]
        for order in [facts, facts.reversed()] {
            #expect(subscription(order, at: .day(25))?.status == .active)
            #expect(subscription(order, at: .day(25))?.expiresAt == .day(37))
            #expect(Redemption.promotional(in: order).count == 1)
        }
        let shorter = [
            try Self.refunded("1", at: 0, on: 20), try Self.seats("2", at: 10) { $0.expiresDate = .day(29) },
        ]
        #expect(subscription(shorter, at: .day(25))?.expiresAt == .day(29), "the end of the living seats")
    }

    @Test("another reason, another ownership, or a renewal is not an addition")
    func otherReasons() throws {
        for others in [
            try Self.seats("2", at: 10, reason: AdditionalTransactionReason(rawValue: "FUTURE_REASON")),
            try Self.seats("2", at: 10, reason: AdditionalTransactionReason(rawValue: "")),
            try Self.seats("2", at: 10) { $0.ownership = .assigned },
            try Self.seats("2", at: 10) { ($0.reason, $0.expiresDate) = (.renewal, .day(40)) },
        ] {
            let facts = [try Self.seats("1", at: 0), others]
            #expect(subscription(facts, at: .day(25))?.transactionID.text.description == "2")
        }
    }

    @Test("an addition for an unknown reason is no certain redemption, so it raises no alarm")
    func unknownReason() throws {
        let future = AdditionalTransactionReason(rawValue: "FUTURE_REASON")
        let facts = [try Self.seats("1", at: 0, reason: nil), try Self.seats("2", at: 10, reason: future)]
        let state = SubscriberState(facts, at: .day(25))
        #expect(state.redemptions.filter(\.isCertain).map(\.at) == [.day(0)], "\(state.redemptions)")
    }

    @Test("a purchase after a refund is not an addition to the refunded period, although seats are added to it")
    func purchaseAfterRefund() throws {
        let facts = [
            try Self.refunded("1", at: 0, on: 5), try Self.seats("2", at: 8) { $0.expiresDate = .day(38) },
            try Self.seats("3", at: 12) { $0.expiresDate = .day(38) },
        ]
        #expect(subscription(facts, at: .day(25))?.transactionID.text.description == "2")
        #expect(subscription(facts, at: .day(25))?.subscribedSince == .day(8))
    }

    @Test("the line items of a renewal may start a moment apart")
    func renewalApart() throws {
        func items(refunded: Bool) throws -> [SubscriberFact] {
            [
                try TestFacts.transaction("1", 0, 30),
                try Self.seats("2", at: 30) { ($0.reason, $0.expiresDate) = (.renewal, .day(60)) },
                try Self.seats("3", at: 30.0001) {
                    ($0.reason, $0.expiresDate) = (.renewal, .day(60))
                    $0.revocation = refunded ? Revocation(date: .day(40), type: .fullRefund) : nil
                },
            ]
        }
        let state = SubscriberState(try items(refunded: false), at: .day(45))
        #expect(state["1"]?.renewals == 1 && state.redemptions.count == 1)
        #expect(subscription(try items(refunded: true), at: .day(45))?.status == .active)
    }

    @Test("one copy of a line item is enough to name the reason")
    func copies() throws {
        let facts = [
            try Self.seats("1", at: 0), try Self.seats("2", at: 10, reason: nil) { $0.webOrderLineItemID = "w" },
            try Self.seats("3", at: 10) { $0.webOrderLineItemID = "w" },
        ]
        #expect(subscription(facts, at: .day(25))?.transactionID.text.description == "1")
    }

    @Test("the offer of a receipt's overlapping purchase of the same product is not certain to be a redemption")
    func receipts() throws {
        func item(_ id: String, at start: Double) throws -> SubscriberFact {
            var purchase = Purchase(productID: try ProductID("monthly"), purchaseDate: .day(start))
            (purchase.type, purchase.expiresDate) = (.autoRenewableSubscription, .day(30))
            purchase.offer = Self.running
            return try TestFacts.fact(.receiptTransaction(purchase), id, of: "1", signed: .day(25))
        }
        let redemptions = Redemption.promotional(in: [try item("1", at: 0), try item("2", at: 10)])
        #expect(redemptions.filter(\.isCertain).map(\.at) == [.day(0)])
    }

    @Test("a run that begins with added seats may have begun earlier")
    func incompleteRun() throws {
        let added = try Self.seats("2", at: 10)
        #expect(subscription([added], at: .day(25))?.isRunWhole == false)
        #expect(subscription([try Self.seats("1", at: 0), added], at: .day(25))?.isRunWhole == true)
    }

    @Test("withheld seats leave no gap, so a group with seats is never known without a complete history")
    func withheld() throws {
        func state(_ change: @escaping (inout Purchase) -> Void) throws -> SubscriberState {
            SubscriberState(
                [try TestFacts.transaction("1", 0, 30, change), try TestFacts.transaction("3", 30, 60, change)],
                at: .day(40))
        }
        #expect(try state { $0.quantity = 1 }.history.groups == ["g"])
        for change in [
            { $0.quantity = 5 }, { $0.seats = Seats() }, { $0.additionalReason = .seatAddition },
        ] as [(inout Purchase) -> Void] {
            #expect(try state(change).history.groups.isEmpty)
        }
    }

    @Test("people see no refund where a share or a seat ended")
    func ended() throws {
        func refunds(_ ownership: OwnershipType, _ type: RevocationType?) throws -> [Timestamp] {
            let fact = try TestFacts.transaction("1", 0, 30) {
                ($0.ownership, $0.revocation) = (ownership, Revocation(date: .day(5), type: type))
            }
            let app = AppScope(bundleID: try BundleID(utf8: Array("com.example.app".utf8)), environment: .production)
            let stored = StoredCustomer(unknownIn: app).adding([fact])
            let original = try TransactionID("1")
            let owned = try #require(
                OwnedCustomer(stored, known: .originalTransactionID(original), by: .first, proven: [original]))
            return owned.periods(in: Catalogue.App(offers: [:])).compactMap { $0.refundedAt }
        }
        #expect(try refunds(.purchased, .fullRefund) == [.day(5)] && refunds(.purchased, nil) == [.day(5)])
        for type in [nil, .fullRefund, .family] as [RevocationType?] {
            for ownership in [.assigned, .familyShared, OwnershipType(rawValue: "FUTURE")] {
                #expect(try refunds(ownership, type).isEmpty)
            }
        }
    }

    @Test("the end of a period with refunded seats is checked")
    func nextCheck() throws {
        let facts = [try Self.seats("1", at: 0), try Self.refunded("2", at: 10, on: 20)]
        #expect(NextCheck.time(after: facts, in: .production) == .day(30))
        let all = [try Self.refunded("1", at: 0, on: 20), try Self.refunded("2", at: 10, on: 20)]
        #expect(NextCheck.time(after: all, in: .production) == nil)
    }

    @Test("a purchase without the reason, or of another product, is a period of its own")
    func others() throws {
        let upgrade = [try Self.seats("1", at: 0, reason: nil), try Self.seats("2", at: 10, reason: nil)]
        #expect(subscription(upgrade, at: .day(25))?.transactionID.text.description == "2")
        let product = [try Self.seats("1", at: 0), try Self.otherProduct()]
        #expect(subscription(product, at: .day(25))?.transactionID.text.description == "2")
    }

    private static func otherProduct() throws -> SubscriberFact {
        var purchase = Purchase(productID: try ProductID("yearly"), purchaseDate: .day(10))
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = "g"
        purchase.expiresDate = .day(30)
        purchase.additionalReason = .seatAddition
        return try TestFacts.fact(.transaction(purchase), "2", of: "1", signed: .day(10))
    }
}
