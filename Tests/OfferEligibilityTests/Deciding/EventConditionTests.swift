import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import HistoryTestSupport

@Suite("Conditions over events and changes")
struct EventConditionTests {
    private static func event(_ kind: OfferEvent.Kind, _ offer: String = "half", at day: Double) throws -> OfferEvent {
        OfferEvent(
            subject: .erased([1]), kind: kind, productID: try ProductID("monthly"),
            offerID: try OfferID(utf8: Array(offer.utf8)), at: .day(day))
    }

    /// On day 40.
    private static func truth(
        _ condition: Condition, _ events: [OfferEvent] = [],
        changes: [SubscriberFact] = [], autoRenew: AutoRenewStatus = .off, coverage: HistoryEvidence.Coverage? = nil
    ) throws -> Truth {
        let renewal = try TestFacts.renewal(signed: 39, autoRenew)
        let facts = try DecidingSamples.facts(renewal: renewal) + changes
        let state = SubscriberState(
            of: SubscriberFacts(facts), environment: .production, evidence: HistoryEvidence(coverage: coverage),
            at: DecidingSamples.now)
        let customer = CustomerFacts(
            state: state, environment: .production, events: events)
        let context = try DecidingSamples.context(customer)
        let truth = condition.truth(in: context)
        for reason in condition.reasons(truth, in: context) {
            #expect(reason.text.hasSuffix(".") && !reason.text.contains("Optional"), "\(reason.text)")
        }
        return truth
    }

    private static func change(_ type: String, _ status: AutoRenewStatus = .off, at day: Double, subtype: String? = nil)
        throws
        -> SubscriberFact
    {
        let renewal = Renewal(productID: try ProductID("monthly"), autoRenewStatus: status)
        return try TestFacts.fact(
            .renewalChange(RenewalChange(type: type, subtype: subtype, renewal: renewal)), "1", of: "1",
            signed: .day(day))
    }

    @Test("shown and dismissed count the events of their kind, offer and age")
    func counts() throws {
        let events = [
            try Self.event(.shown, at: 10), try Self.event(.shown, at: 39), try Self.event(.shown, "other", at: 39.5),
            try Self.event(.dismissed, at: 39.5), try Self.event(.failed, at: 39.5),
        ]
        for (test, expected) in [
            (EventTest(count: Bounds(atLeast: 3)), Truth.yes), (EventTest(count: Bounds(atLeast: 4)), .no),
            (EventTest(offers: ["half"], count: Bounds(atLeast: 2)), .yes),
            (EventTest(offers: ["half"], within: .days(7), count: Bounds(atMost: 1)), .yes),
            (EventTest(offers: ["half"], within: .days(7), count: Bounds(atMost: 0)), .no),
            (EventTest(offers: ["unknown"], count: Bounds(atMost: 0)), .yes),
        ] as [(EventTest<ShownEvent>, Truth)] {
            #expect(try Self.truth(.test(.shown(test)), events) == expected, "\(test)")
        }
        #expect(try Self.truth(.test(.dismissed(EventTest())), events) == .yes)
        #expect(try Self.truth(.test(.dismissed(EventTest(within: .hours(6)))), events) == .no)
        #expect(try Self.truth(.not(.test(.dismissed(EventTest())))) == .yes, "a missing report is no event")
    }

    @Test("an offer that is to end a day after it was first shown is open until then")
    func firstShown() throws {
        let condition = try DecidingSamples.terms(.test(.firstShown(FirstShownTest(within: .days(1))))).rule.condition
        #expect(try Self.truth(condition) == .yes, "not shown yet")
        #expect(try Self.truth(condition, [Self.event(.shown, at: 39)]) == .yes)
        #expect(try Self.truth(condition, [Self.event(.shown, at: 39), Self.event(.shown, at: 38.9)]) == .no)
        #expect(try Self.truth(condition, [Self.event(.shown, "other", at: 1)]) == .yes, "another offer")
        #expect(try Self.truth(condition, [Self.event(.dismissed, at: 1)]) == .yes)
    }

    @Test("no event turns a no into a yes", arguments: 0..<200)
    func monotone(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        func bounds(wanting wanted: Bool) -> Bounds<Int> {
            let count = Int.random(in: 0...3, using: &random)
            return wanted ? Bounds(atMost: count) : Bounds(atLeast: count)
        }
        func condition(wanting wanted: Bool, _ depth: Int) -> Condition {
            let within: Duration? = Bool.random(using: &random) ? .days(Int.random(in: 1...30, using: &random)) : nil
            let offers: Set<String>? = Bool.random(using: &random) ? ["half"] : nil
            switch Int.random(in: 0...(depth > 0 ? 5 : 2), using: &random) {
            case 0: return .test(.shown(EventTest(offers: offers, within: within, count: bounds(wanting: wanted))))
            case 1: return .test(.dismissed(EventTest(offers: offers, within: within, count: bounds(wanting: wanted))))
            case 2 where wanted: return .test(.firstShown(FirstShownTest(offers: ["half"], within: .days(3))))
            case 2: return .test(.everSubscribed(true))
            case 3: return .not(condition(wanting: !wanted, depth - 1))
            case 4: return .all((0..<2).map { _ in condition(wanting: wanted, depth - 1) })
            default: return .any((0..<2).map { _ in condition(wanting: wanted, depth - 1) })
            }
        }
        let rule = condition(wanting: true, 3)
        #expect(rule.misuse == nil)
        var events: [OfferEvent] = []
        var last = try Self.truth(rule, events)
        for _ in 0..<8 {
            let kind: OfferEvent.Kind = Bool.random(using: &random) ? .shown : .dismissed
            events.append(
                try Self.event(
                    kind, Bool.random(using: &random) ? "half" : "other", at: .random(in: 1...40, using: &random)))
            let next = try Self.truth(rule, events)
            #expect(last == .yes || next != .yes, "\(rule)")
            last = next
        }
    }

    @Test("a rule that an event could fulfil is a misuse")
    func misuse() {
        let shown = Condition.test(.shown(EventTest()))
        let open = Condition.test(.firstShown(FirstShownTest(within: .days(1))))
        let upper = Condition.test(.dismissed(EventTest(count: Bounds(atMost: 2))))
        for condition in [shown, .not(open), .not(upper), .all([.not(.not(shown))]), .any([open, .rule("r", shown)])] {
            #expect(condition.misuse != nil, "\(condition)")
        }
        for condition in [.not(shown), open, upper, .any([open, .not(.any([shown]))])] as [Condition] {
            #expect(condition.misuse == nil, "\(condition)")
        }
        let both = Condition.test(.shown(EventTest(count: Bounds(atLeast: 1, atMost: 2))))
        #expect(both.misuse != nil && Condition.not(both).misuse != nil)
    }

    @Test("a switch of auto-renew has a time only if its notification is known")
    func autoRenewChanged() throws {
        let recently = DecidingSamples.subscription(.autoRenewChanged(to: false, within: .days(3)))
        let off = try Self.change("DID_CHANGE_RENEWAL_STATUS", at: 38)
        let long = try Self.change("DID_CHANGE_RENEWAL_STATUS", at: 30)
        let on = try Self.change("DID_CHANGE_RENEWAL_STATUS", .on, at: 39)
        #expect(try Self.truth(recently, changes: [off]) == .yes)
        #expect(try Self.truth(recently, changes: [off, long]) == .yes)
        #expect(try Self.truth(recently, changes: [long]) == .unknown, "it may have been switched on and off since")
        #expect(try Self.truth(recently) == .unknown)
        let both = [off, try Self.change("DID_CHANGE_RENEWAL_STATUS", .on, at: 38, subtype: "AUTO_RENEW_ENABLED")]
        for changes in [both, both.reversed()] { #expect(try Self.truth(recently, changes: changes) == .yes) }
        #expect(try Self.truth(recently, changes: [off, on]) == .unknown, "the last switch is missing")
        #expect(try Self.truth(recently, changes: [off], autoRenew: .on) == .no)
        #expect(try Self.truth(recently, changes: [Self.change("DID_FAIL_TO_RENEW", at: 39)]) == .unknown)
        let covered = HistoryEvidence.Coverage(since: .day(30), until: .day(40), changesSince: .day(36))
        #expect(try Self.truth(recently, coverage: covered) == .no, "no notification is missing")
        #expect(try Self.truth(recently, changes: [long], coverage: covered) == .no)
        let late = HistoryEvidence.Coverage(since: .day(30), until: .day(40), changesSince: .day(38))
        #expect(try Self.truth(recently, coverage: late) == .unknown)
        #expect(try Self.truth(recently, changes: [on], coverage: covered) == .unknown, "it was switched off since")
        let whole = HistoryEvidence.Coverage(since: .day(-1), until: .day(40), changesSince: .day(-1))
        #expect(try Self.truth(recently, coverage: whole) == .unknown, "it was on after the purchase")
        let old = HistoryEvidence.Coverage(since: .day(30), until: .day(38), changesSince: .day(30))
        #expect(try Self.truth(recently, coverage: old) == .unknown)
        #expect(
            try Self.truth(recently, coverage: HistoryEvidence.Coverage(since: .day(0), until: .day(40))) == .unknown)
    }

    @Test("a switch to on without a notification of its own is unknown, and a purchase is no switch")
    func switchedOnOtherwise() throws {
        let recently = DecidingSamples.subscription(.autoRenewChanged(to: true, within: .days(3)))
        let covered = HistoryEvidence.Coverage(since: .day(30), until: .day(40), changesSince: .day(36))
        let whole = HistoryEvidence.Coverage(since: .day(-1), until: .day(40), changesSince: .day(-1))
        let off = try Self.change("DID_CHANGE_RENEWAL_STATUS", at: 30)
        let early = try Self.change("DID_CHANGE_RENEWAL_STATUS", at: -5)
        let downgrade = try Self.change("DID_CHANGE_RENEWAL_PREF", .on, at: 39, subtype: "DOWNGRADE")
        func truth(_ changes: [SubscriberFact], _ coverage: HistoryEvidence.Coverage) throws -> Truth {
            try Self.truth(recently, changes: changes, autoRenew: .on, coverage: coverage)
        }
        // A downgrade turns auto-renew on.
        #expect(try truth([off, downgrade], whole) == .unknown)
        #expect(try truth([downgrade], covered) == .unknown, "it may have been off before")
        #expect(try truth([downgrade], whole) == .no, "it was never off")
        #expect(try truth([early], whole) == .no, "it was on after the purchase")
        let on = try Self.change("DID_CHANGE_RENEWAL_STATUS", .on, at: 39)
        #expect(try truth([off, on], covered) == .yes)
        #expect(try truth([off, Self.change("DID_CHANGE_RENEWAL_STATUS", .on, at: 31)], covered) == .no)
    }

    @Test("billing errors are a lower bound, unless every notification is known")
    func billingErrors() throws {
        let errors = [try Self.change("DID_FAIL_TO_RENEW", at: 20), try Self.change("DID_FAIL_TO_RENEW", at: 39)]
        let whole = HistoryEvidence.Coverage(since: .day(-1), until: .day(40), changesSince: .day(-1))
        let month = HistoryEvidence.Coverage(since: .day(5), until: .day(40), changesSince: .day(5))
        func truth(
            _ count: Bounds<Int>, within: Duration? = nil, _ changes: [SubscriberFact],
            _ coverage: HistoryEvidence.Coverage? = nil
        ) throws -> Truth {
            try Self.truth(
                DecidingSamples.subscription(.billingErrors(BillingErrorsTest(within: within, count: count))),
                changes: changes, coverage: coverage)
        }
        #expect(try truth(Bounds(atLeast: 2), errors) == .yes && truth(Bounds(atLeast: 3), errors) == .unknown)
        #expect(try truth(Bounds(atMost: 1), errors) == .no && truth(Bounds(atMost: 2), errors) == .unknown)
        #expect(try truth(Bounds(atLeast: 3), errors, whole) == .no && truth(Bounds(atMost: 2), errors, whole) == .yes)
        #expect(try truth(Bounds(atMost: 2), errors, month) == .unknown, "it began before")
        #expect(try truth(Bounds(atMost: 1), within: .days(7), errors, month) == .yes)
        #expect(try truth(Bounds(atMost: 0), within: .days(7), errors, month) == .no)
        #expect(try truth(Bounds(atMost: 0), within: .days(7), [], month) == .yes)
        #expect(try truth(Bounds(atMost: 0), within: .days(36), [], month) == .unknown)
    }
}
