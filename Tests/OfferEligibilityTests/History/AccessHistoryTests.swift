import OfferCore
import Testing

@testable import HistoryTestSupport
@testable import OfferEligibility

@Suite("What happened to a customer, for reports")
struct AccessHistoryTests {
    private typealias Span = AccessHistory.Span

    private static func history(_ facts: [SubscriberFact], until day: Double) throws -> AccessHistory {
        AccessHistory(
            of: SubscriberFacts(facts), inGroupOf: try ProductID("monthly"), of: Catalogue.App(offers: [:]),
            until: .day(day))
    }

    private static func change(
        _ type: String, at day: Double, _ status: AutoRenewStatus = .on, _ change: (inout Renewal) -> Void = { _ in }
    ) throws -> SubscriberFact {
        var renewal = Renewal(productID: try ProductID("monthly"), autoRenewStatus: status)
        change(&renewal)
        return try TestFacts.fact(
            .renewalChange(RenewalChange(type: type, subtype: nil, renewal: renewal)), "c\(Int(day))", of: "1",
            signed: .day(day))
    }

    private static func span(_ start: Double, _ end: Double, _ reason: Subscription.EndReason = .other) -> Span {
        Span(start: .day(start), end: .day(end), endedBecause: reason)
    }

    @Test("periods without a gap are one span, and a return is another")
    func spans() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30), try TestFacts.transaction("2", 30, 60),
            try TestFacts.transaction("3", 80, 110) { $0.reason = .purchase },
        ]
        let history = try Self.history(facts, until: 100)
        #expect(history.spans == [Self.span(0, 60), Self.span(80, 110)])
        #expect(history.renewals == [.day(30)])
        // What comes later does not count.
        #expect(try Self.history(facts, until: 20).spans == [Self.span(0, 30)])
    }

    @Test("a renewal that starts up to an hour late does not end access, unlike a purchase")
    func lateRenewal() throws {
        func history(_ start: Double, _ reason: TransactionReason = .renewal) throws -> AccessHistory {
            try Self.history(
                [TestFacts.transaction("1", 0, 30), TestFacts.transaction("2", start, 60) { $0.reason = reason }],
                until: 100)
        }
        let late = try history(30.001)
        #expect(late.spans == [Self.span(0, 60)] && late.renewals == [.day(30.001)])
        #expect(try history(30.04).spans == [Self.span(0, 60)])
        #expect(try history(30.05).spans == [Self.span(0, 30), Self.span(30.05, 60)])
        #expect(try history(30.001, .purchase).spans.count == 2)
        let refunded = try Self.history(
            [
                TestFacts.transaction("1", 0, 30, signed: 40) { $0.revocation = Revocation(date: .day(40)) },
                TestFacts.transaction("2", 30.001, 60),
            ], until: 100)
        #expect(refunded.spans == [Self.span(0, 60)], "a refund after the end takes no access away")
    }

    @Test("a refund ends access, and only once its date has come")
    func refund() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30) {
                $0.currency = "USD"
                $0.revocation = Revocation(date: .day(10), percentage: 50_000)
            }
        ]
        let late = try Self.history(facts, until: 10)
        #expect(late.spans == [Self.span(0, 10, .refunded)])
        #expect(late.payments.map(\.amount) == [9990, -4995])
        let early = try Self.history(facts, until: 9)
        #expect(early.spans == [Self.span(0, 30)])
        #expect(early.payments.map(\.amount) == [9990])
    }

    @Test("a grace period gives access, and a failed payment is the cause of the end")
    func grace() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30),
            try Self.change("DID_FAIL_TO_RENEW", at: 30) { $0.gracePeriodExpiresDate = .day(46) },
        ]
        #expect(try Self.history(facts, until: 100).spans == [Self.span(0, 46, .billing)])
        #expect(try Self.history(facts, until: 29).spans == [Self.span(0, 30)])
        let recovered = facts + [try TestFacts.transaction("2", 40, 70)]
        #expect(try Self.history(recovered, until: 100).spans == [Self.span(0, 70)])
    }

    @Test(
        "the last message says why access ended",
        arguments: [
            (ExpirationIntent.cancelled, Subscription.EndReason.cancelled), (.billingError, .billing),
            (.priceIncreaseDeclined, .priceIncrease), (.productUnavailable, .productUnavailable),
        ])
    func causes(intent: ExpirationIntent, reason: Subscription.EndReason) throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30), try Self.change("DID_CHANGE_RENEWAL_STATUS", at: 5, .off),
            try Self.change("EXPIRED", at: 31) { $0.expirationIntent = intent },
        ]
        #expect(try Self.history(facts, until: 100).spans.last?.endedBecause == reason)
        // Before that message, auto-renew tells.
        #expect(try Self.history(facts, until: 30.5).spans.last?.endedBecause == .cancelled)
    }

    @Test("a share of someone else, and another group, do not count")
    func others() throws {
        var other = Purchase(productID: try ProductID("other"), purchaseDate: .day(0))
        (other.type, other.ownership) = (.autoRenewableSubscription, .purchased)
        (other.subscriptionGroupID, other.expiresDate) = ("other", .day(30))
        let facts = [
            try TestFacts.transaction("1", 0, 30) { $0.ownership = .familyShared },
            try TestFacts.fact(.transaction(other), "5", of: "5", signed: .day(0)),
            try TestFacts.transaction("7", of: "7", 10, 40),
        ]
        #expect(try Self.history(facts, until: 100).spans == [Self.span(10, 40)])
    }

    @Test("an upgrade replaces the rest of a period")
    func upgrade() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 365), try TestFacts.transaction("2", 10, 40) { $0.reason = .purchase },
        ]
        #expect(try Self.history(facts, until: 100).spans == [Self.span(0, 40)])
    }

    @Test("a redemption is followed to the first period at no discount")
    func redemption() throws {
        func discounted(_ purchase: inout Purchase) {
            purchase.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
        }
        let facts = [
            try TestFacts.transaction("1", 0, 30), try TestFacts.transaction("2", 30, 60, discounted),
            try TestFacts.transaction("3", 60, 90, discounted), try TestFacts.transaction("4", 90, 120),
        ]
        func redeemed(_ facts: [SubscriberFact], since start: Double = 0, until day: Double) throws
            -> AccessHistory.Redeemed?
        {
            try Self.history(facts, until: day).redemption(
                of: ProductID("monthly"), OfferID(utf8: Array("half".utf8)), since: .day(start),
                wasSigned: { _ in false })
        }
        #expect(try redeemed(facts, until: 29) == nil)
        #expect(try redeemed(facts, since: 31, until: 200) == nil)
        #expect(try redeemed(facts, until: 70) == AccessHistory.Redeemed(at: .day(30), afterwards: .notYet))
        #expect(try redeemed(facts, until: 95) == AccessHistory.Redeemed(at: .day(30), afterwards: .kept))
        #expect(
            try redeemed(facts.dropLast(), until: 95) == AccessHistory.Redeemed(at: .day(30), afterwards: .lost))
    }

    /// The start of the period at full price, whether it is a renewal or a purchase, its refund, and what it means.
    private static let afterDiscount: [(Double, TransactionReason?, Double?, AccessHistory.Afterwards)] = [
        (60, .renewal, nil, .kept), (60, .purchase, nil, .kept),
        // A failed payment.
        (119, .renewal, nil, .kept), (121, .renewal, nil, .lost),
        // The customer came back.
        (61, .purchase, nil, .lost), (160, .renewal, nil, .lost),
        (60, .renewal, 65, .lost), (60, .renewal, 500, .kept),
        // Old data does not say which it was.
        (70, nil, nil, .kept), (121, nil, nil, .lost),
    ]

    @Test("a period at full price was kept only if it followed without a gap, and was not refunded")
    func gap() throws {
        for (start, reason, refund, afterwards) in Self.afterDiscount {
            let found = try Self.afterwards(start, reason, refund)
            #expect(found == afterwards, "\(start) \(refund ?? 0)")
        }
    }

    private static func afterwards(
        _ start: Double, _ reason: TransactionReason?, _ refund: Double?
    ) throws -> AccessHistory.Afterwards? {
        let facts = [
            try TestFacts.transaction("1", 0, 30),
            try TestFacts.transaction("2", 30, 60) {
                $0.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
            },
            try TestFacts.transaction("3", start, start + 30) {
                $0.reason = reason
                $0.revocation = refund.map { Revocation(date: .day($0), percentage: 100_000) }
            },
        ]
        return try history(facts, until: 200).redemption(
            of: ProductID("monthly"), OfferID(utf8: Array("half".utf8)), since: .day(0), wasSigned: { _ in false }
        )?.afterwards
    }

    @Test("a second redemption after a gap does not make the first one kept")
    func secondRedemption() throws {
        func discounted(_ purchase: inout Purchase) {
            purchase.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
        }
        let facts = [
            try TestFacts.transaction("1", 0, 30, discounted),
            try TestFacts.transaction("2", 80, 110) {
                discounted(&$0)
                $0.reason = .purchase
            }, try TestFacts.transaction("3", 110, 140),
        ]
        let redeemed = try Self.history(facts, until: 200).redemption(
            of: ProductID("monthly"), OfferID(utf8: Array("half".utf8)), since: .day(0), wasSigned: { _ in false })
        #expect(redeemed == AccessHistory.Redeemed(at: .day(0), afterwards: .lost))
    }

    @Test("the storefront is that of the last purchase before a time")
    func storefront() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30) { $0.storefront = "USA" },
            try TestFacts.transaction("2", 30, 60) { $0.storefront = "DEU" },
        ]
        let history = try Self.history(facts, until: 100)
        #expect(history.storefront(at: .day(-1)) == nil)
        #expect(history.storefront(at: .day(29)) == "USA")
        #expect(history.storefront(at: .day(30)) == "DEU")
    }

    @Test("a redemption after which the price is unknown, or whose period never came, is neither kept nor lost")
    func unknown() throws {
        func discounted(_ purchase: inout Purchase) {
            purchase.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
        }
        func afterwards(_ facts: [SubscriberFact], until day: Double) throws -> AccessHistory.Afterwards? {
            try Self.history(facts, until: day).redemption(
                of: ProductID("monthly"), OfferID(utf8: Array("half".utf8)), since: .day(0), wasSigned: { _ in false }
            )?.afterwards
        }
        let facts = [try TestFacts.transaction("1", 0, 30), try TestFacts.transaction("2", 30, 60, discounted)]
        #expect(try afterwards(facts + [TestFacts.transaction("3", 60, 90) { $0.price = nil }], until: 80) == .unknown)
        // The renewal failed, and billing is still tried.
        let failed = facts + [try Self.change("DID_FAIL_TO_RENEW", at: 60)]
        #expect(try afterwards(failed, until: 80) == .notYet)
        #expect(try afterwards(failed, until: 121) == .lost)
        let announced = [
            try TestFacts.transaction("1", 0, 30),
            try TestFacts.renewal(signed: 10) {
                $0.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
            },
        ]
        #expect(try afterwards(announced, until: 20) == .notYet)
        #expect(try afterwards(announced, until: 40) == .unknown)
    }

    @Test("a redemption that is not certain counts only with a signature")
    func uncertain() throws {
        let offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
        func announcement(_ kind: Bool, at day: Double, _ status: AutoRenewStatus) throws -> SubscriberFact {
            var renewal = Renewal(productID: try ProductID("monthly"), autoRenewStatus: status)
            renewal.autoRenewProductID = try ProductID("monthly")
            renewal.offer = kind ? offer : nil
            return try TestFacts.fact(.firstAnnouncement(renewal), "1", of: "1", signed: .day(day))
        }
        // The offer was missing only while auto-renew was off.
        let facts = [
            try TestFacts.transaction("1", 0, 30) { $0.offer = offer },
            try announcement(true, at: 1, .on), try announcement(false, at: 10, .off),
            try TestFacts.renewal(signed: 20) { $0.offer = offer },
            try TestFacts.transaction("2", 30, 60) { $0.offer = offer },
        ]
        let history = try Self.history(facts, until: 70)
        func redeemed(_ isSigned: Bool) throws -> AccessHistory.Redeemed? {
            history.redemption(
                of: try ProductID("monthly"), try OfferID(utf8: Array("half".utf8)), since: .day(5),
                wasSigned: { _ in isSigned })
        }
        #expect(try redeemed(false) == nil)
        #expect(try redeemed(true) != nil)
    }

    @Test("subscriptions of two Apple Accounts do not shorten each other's access")
    func concurrent() throws {
        func account(_ number: String) -> (inout Purchase) throws -> Void {
            { $0.appTransactionID = try TransactionID(number) }
        }
        let facts = [
            try TestFacts.transaction("1", 0, 365, account("100")),
            try TestFacts.transaction("7", of: "7", 10, 40, account("200")),
        ]
        let history = try Self.history(facts, until: 100)
        #expect(history.spans == [Self.span(0, 365)])
        #expect(history.renewals.isEmpty)
        // Of one Apple Account, the second replaces the first.
        let one = [facts[0], try TestFacts.transaction("7", of: "7", 10, 40, account("100"))]
        #expect(try Self.history(one, until: 100).spans == [Self.span(0, 40)])
    }
}
