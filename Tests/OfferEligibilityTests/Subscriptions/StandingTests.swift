import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Status at a time")
struct StandingTests {
    private typealias Make = TestFacts

    private static func facts(_ others: SubscriberFact...) throws -> [SubscriberFact] {
        [try Make.transaction("1", 0, 30), try Make.transaction("2", 30, 60)] + others
    }

    private static func grace(until end: Double, signed: Double = 60) throws -> SubscriberFact {
        try Make.renewal(signed: signed) {
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = .day(end)
        }
    }

    @Test("a period ends at its millisecond, without any notification")
    func periodEnd() throws {
        let facts = try Self.facts(try Make.renewal(signed: 31, .off), try Make.status(.active, signed: 31))
        #expect(subscription(facts, at: Timestamp.day(60).before)?.status == .active)
        for now in [Timestamp.day(60), .day(60).after, .day(600)] {
            let ended = subscription(facts, at: now)
            #expect(ended?.status == .expired)
            #expect(ended?.settled == true)
            #expect(ended?.endedBecause == .cancelled)
            #expect(ended?.endedAt == .day(60))
        }
    }

    @Test("trap 14: the app's signed transaction alone makes the customer a subscriber, before any notification")
    func deviceFirst() throws {
        let known = subscription([try Make.transaction("1", 0, 30)], at: .day(0).after)
        #expect(known?.status == .active)
        #expect(known?.autoRenews == nil)
        #expect(SubscriberState([try Make.transaction("1", 0, 30)], at: .day(0)).everSubscribed == true)
    }

    @Test("trap 18: a renewal signed before it starts does not end the old period early")
    func renewalBeforeStart() throws {
        let renewed = try Make.transaction("2", 30, 60, signed: 29.9996)
        let info = try Make.renewal(signed: 29.9996) { $0.renewalDate = .day(60) }
        let facts = [try Make.transaction("1", 0, 30), renewed, info]
        #expect(subscription(facts, at: Timestamp.day(30).before)?.transactionID.text.description == "1")
        #expect(subscription(facts, at: Timestamp.day(30).before)?.renewals == 0)
        #expect(subscription(facts, at: .day(30))?.transactionID.text.description == "2")
        #expect(subscription(facts, at: .day(30))?.renewals == 1)
        #expect(subscription(facts, at: .day(30))?.autoRenews == true)
    }

    @Test("a renewal that starts some seconds after the old period leaves no gap")
    func renewalAfterGap() throws {
        let facts = [try Make.transaction("1", 0, 30), try Make.transaction("2", 30.0004, 60)]
        #expect(subscription(facts, at: .day(30))?.status == .active)
        #expect(subscription([try Make.transaction("1", 1, 30)], at: .day(0))?.status == .active)
    }

    @Test("trap 19: in grace, the expiry is past and retry is on: the grace date is what counts")
    func grace() throws {
        let facts = try Self.facts(try Self.grace(until: 76), try Make.status(.billingGracePeriod, signed: 60))
        #expect(subscription(facts, at: Timestamp.day(60).before)?.status == .active)
        for now in [Timestamp.day(60), .day(76).before] {
            #expect(subscription(facts, at: now)?.status == .billingGracePeriod)
            #expect(subscription(facts, at: now)?.gracePeriodExpiresAt == .day(76))
            #expect(subscription(facts, at: now)?.endedAt == nil)
        }
        for now in [Timestamp.day(76), .day(76).after] {
            #expect(subscription(facts, at: now)?.status == .billingRetry)
            #expect(subscription(facts, at: now)?.endedAt == .day(76))
            #expect(subscription(facts, at: now)?.endedBecause == nil)
        }
    }

    @Test("retry that lasts more than 60 days has expired because of billing")
    func retryEnd() throws {
        let facts = try Self.facts(try Self.grace(until: 76))
        for now in [Timestamp.day(120).before, .day(120)] {
            #expect(subscription(facts, at: now)?.status == .billingRetry)
        }
        let ended = subscription(facts, at: .day(120).after)
        #expect(ended?.status == .expired)
        #expect(ended?.endedBecause == .billing)
        #expect(ended?.endedAt == .day(76))
    }

    @Test("trap 20: a failed renewal without a grace date is in retry at once")
    func noGraceDate() throws {
        let facts = try Self.facts(try Make.renewal(signed: 60) { $0.isInBillingRetryPeriod = true })
        #expect(subscription(facts, at: .day(60))?.status == .billingRetry)
        #expect(subscription(facts, at: .day(60))?.endedAt == .day(60))
    }

    @Test("trap 21: retry without an expiration intent is retry, and an intent beside retry does not end it")
    func intentInRetry() throws {
        for intent in [nil, ExpirationIntent.billingError] {
            let info = try Make.renewal(signed: 60) {
                $0.isInBillingRetryPeriod = true
                $0.expirationIntent = intent
            }
            #expect(subscription(try Self.facts(info), at: .day(61))?.status == .billingRetry)
        }
    }

    @Test("trap 21: a missing expiration intent does not mean active: the subtype of EXPIRED says why")
    func missingIntent() throws {
        let info = try Make.renewal(signed: 60) { $0.isInBillingRetryPeriod = false }
        let reasons: [(ExpiryReason, Subscription.EndReason)] = [
            (.voluntary, .cancelled), (.billingRetry, .billing), (.priceIncrease, .priceIncrease),
            (.productNotForSale, .productUnavailable), (.init(rawValue: ""), .other), (.init(rawValue: "X"), .other),
        ]
        for (reason, expected) in reasons {
            let facts = try Self.facts(info, try Make.expired(reason, signed: 60))
            #expect(subscription(facts, at: .day(61))?.endedBecause == expected)
            #expect(subscription(facts, at: .day(61))?.settled == true)
        }
    }

    @Test("the expiration intent says why, before the subtype does", arguments: 1...6 as ClosedRange<Int64>)
    func intent(number: Int64) throws {
        let info = try Make.renewal(signed: 60, .off) { $0.expirationIntent = .init(rawValue: number) }
        let facts = try Self.facts(info, try Make.expired(.init(rawValue: "X"), signed: 60))
        let expected: [Subscription.EndReason] = [
            .cancelled, .billing, .priceIncrease, .productUnavailable, .other, .other,
        ]
        #expect(subscription(facts, at: .day(61))?.endedBecause == expected[Int(number) - 1])
    }

    @Test("the reason of an earlier expiry does not end a later period")
    func oldReason() throws {
        let bought = try Make.transaction("3", 100, 130) { $0.reason = .purchase }
        let facts = try Self.facts(
            bought, try Make.expired(.voluntary, signed: 60), try Make.status(.expired, signed: 60))
        #expect(subscription(facts, at: .day(131))?.settled == false)
        #expect(subscription(facts, at: .day(131))?.endedBecause == nil)
    }

    @Test("trap 22: cancelling in grace ends service at once")
    func cancelInGrace() throws {
        let cancelled = try Make.renewal(signed: 65, .off) { $0.gracePeriodExpiresDate = .day(76) }
        let facts = try Self.facts(try Self.grace(until: 76), cancelled)
        #expect(subscription(facts, at: .day(66))?.status == .expired)
        #expect(subscription(facts, at: .day(66))?.endedBecause == .cancelled)
    }

    @Test("trap 22: recovery in grace keeps the run, and recovery after grace does too")
    func recovery() throws {
        for start in [60.0, 70, 100] {
            let recovered = try Make.transaction("3", start, 130)
            let facts = try Self.facts(try Self.grace(until: 76), recovered)
            #expect(subscription(facts, at: .day(101))?.status == .active)
            #expect(subscription(facts, at: .day(101))?.renewals == 2)
            #expect(subscription(facts, at: .day(101))?.subscribedSince == .day(0))
        }
    }

    @Test("old grace and retry do not belong to a recovered period")
    func oldGrace() throws {
        let facts = try Self.facts(try Self.grace(until: 200, signed: 60), try Make.transaction("3", 70, 100))
        #expect(subscription(facts, at: .day(101))?.settled == false)
        #expect(subscription(facts, at: .day(71))?.autoRenews == nil)
    }

    @Test("trap 15: an EXPIRED that never comes leaves the state unsettled for seven days")
    func unsettled() throws {
        let facts = try Self.facts(try Make.renewal(signed: 31), try Make.status(.active, signed: 31))
        for now in [Timestamp.day(60), .day(67).before] {
            #expect(subscription(facts, at: now)?.status == .expired)
            #expect(subscription(facts, at: now)?.settled == false)
            #expect(subscription(facts, at: now)?.endedAt == nil)
            #expect(subscription(facts, at: now)?.endedBecause == nil)
        }
        #expect(subscription(facts, at: .day(67))?.settled == true)
        #expect(subscription(facts, at: .day(67))?.endedBecause == .other)
    }

    @Test("trap 23: waiting times are short in the sandbox")
    func sandbox() throws {
        let hour = 1.0 / 24
        let quiet = [try Make.transaction("1", 0, hour)]
        #expect(subscription(quiet, .sandbox, at: Timestamp.day(2 * hour).before)?.settled == false)
        #expect(subscription(quiet, .sandbox, at: .day(2 * hour))?.settled == true)
        let retry = quiet + [try Make.renewal(signed: hour) { $0.isInBillingRetryPeriod = true }]
        #expect(subscription(retry, .sandbox, at: .day(3 * hour))?.status == .billingRetry)
        #expect(subscription(retry, .sandbox, at: .day(3 * hour).after)?.endedBecause == .billing)
        #expect(subscription(retry, .production, at: .day(3 * hour).after)?.status == .billingRetry)
    }

    @Test("a status decides only what no newer renewal info says")
    func statusAlone() throws {
        let failed = try Self.facts(try Make.status(.billingRetry, signed: 60))
        #expect(subscription(failed, at: .day(61))?.status == .billingRetry)
        let grace = try Self.facts(try Make.status(.billingGracePeriod, signed: 60))
        #expect(subscription(grace, at: Timestamp.day(67).before)?.status == .billingGracePeriod)
        #expect(subscription(grace, at: .day(67))?.status == .billingRetry)
        #expect(subscription(failed + [try Make.renewal(signed: 62)], at: .day(63))?.settled == false)
        let wrong = try Self.facts(try Make.status(.expired, signed: 31))
        #expect(subscription(wrong, at: .day(59))?.status == .active)
        #expect(subscription(wrong, at: .day(60))?.endedBecause == .other)
        let unknown = try Self.facts(try Make.status(.init(rawValue: 9), signed: 60))
        #expect(subscription(unknown, at: .day(61))?.settled == false)
    }

    @Test("an extended renewal date moves the end")
    func extended() throws {
        let facts = try Self.facts(try Make.transaction("2", 30, 70, signed: 40))
        #expect(subscription(facts, at: .day(65))?.status == .active)
        #expect(subscription(facts, at: .day(65))?.expiresAt == .day(70))
    }
}
