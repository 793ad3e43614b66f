import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("When the App Store is asked about a subscription")
struct NextCheckTests {
    private func next(
        _ facts: [SubscriberFact], _ environment: AppStoreEnvironment = .production
    ) throws -> Timestamp? {
        let time = NextCheck.time(after: facts, in: environment)
        #expect(NextCheck.time(after: facts.reversed(), in: environment) == time, "the order does not matter")
        return time
    }

    @Test("when the period of the current transaction ends, whatever the transaction says of itself later")
    func period() throws {
        let first = try TestFacts.transaction("1", 0, 30, signed: 31)
        #expect(try next([first]) == .day(30))
        #expect(try next([first, TestFacts.transaction("2", 30, 60)]) == .day(60))
    }

    @Test("when a grace period ends, then when a billing retry does")
    func retry() throws {
        let facts = [
            try TestFacts.transaction("1", 0, 30), try TestFacts.status(.billingGracePeriod, signed: 30.1),
            try TestFacts.renewal(signed: 30.1) {
                $0.gracePeriodExpiresDate = .day(36)
                $0.isInBillingRetryPeriod = true
            },
        ]
        #expect(try next(facts) == .day(36))
        let later = [
            facts[0], try TestFacts.status(.billingRetry, signed: 36.1),
            try TestFacts.renewal(signed: 36.1) { $0.isInBillingRetryPeriod = true },
        ]
        #expect(try next(later) == .day(90))
    }

    @Test("not at all if the subscription is over, was refunded, or never ends")
    func over() throws {
        #expect(try next([TestFacts.transaction("1", 0, 30), TestFacts.status(.expired, signed: 30.1)]) == nil)
        #expect(try next([TestFacts.transaction("1", 0, 30) { $0.revocation = Revocation(date: .day(3)) }]) == nil)
        #expect(try next([TestFacts.transaction("1", 0, 30) { $0.expiresDate = nil }]) == nil)
        #expect(try next([]) == nil)
    }

    @Test("again if the App Store says that a subscription goes on whose period is over, ever less often, for a week")
    func announced() throws {
        func next(askedAt day: Double, _ environment: AppStoreEnvironment = .production) throws -> Timestamp? {
            let facts = [
                try TestFacts.transaction("1", 0, 30), try TestFacts.status(.active, signed: day),
                try TestFacts.renewal(signed: day),
            ]
            return try self.next(facts, environment)
        }
        #expect(try next(askedAt: 30.01) == .day(30.01 + 1.0 / 24))
        #expect(try next(askedAt: 31) == .day(32))
        #expect(try next(askedAt: 33) == .day(36))
        #expect(try next(askedAt: 37) == nil)
        #expect(try next(askedAt: 30.01, .sandbox) == .day(30.02))
    }
}
