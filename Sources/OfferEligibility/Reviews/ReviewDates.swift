package import OfferCore

/// The times at which a decision about a customer may change although no record changes.
///
/// They are the dates in the customer's data, moved by each duration in the rules. That is more than needed, and a review at a
/// time at which nothing changes does no harm. Dates and durations are found by reflection, so that a new condition cannot
/// be forgotten.
package struct ReviewDates: Sendable {
    private let durations: [Duration]
    private let dates: [Timestamp]

    package init(_ app: Catalogue.App, in environment: AppStoreEnvironment) {
        var found = FoundTimes()
        for terms in app.rules.offers {
            found.add(terms.rule.condition)
            found.add(terms.limits)
        }
        // In the sandbox, durations may pass faster.
        let speed = environment == .sandbox ? app.rules.sandboxRenewalRate?.speed ?? 1 : 1
        let timing = SubscriptionTiming(environment)
        durations = Array(
            found.durations.union(found.durations.map { $0 / speed }).union([
                .zero, .clockTolerance, timing.unsettled, timing.billingRetry, timing.recheck,
                app.freshness ?? HistoryEvidence.defaultFreshness,
            ]))
        dates = Array(found.dates)
    }

    /// Returns the times for one customer, in no particular order.
    /// - Parameter redemptions: the times of redemptions.
    package func of(
        _ customer: OwnedCustomer, _ state: SubscriberState, _ authorisations: [Authorisation],
        redemptions: [Timestamp]
    ) -> [Timestamp] {
        var found = FoundTimes()
        found.add(state)
        for value in customer.events { found.dates.insert(value.at) }
        for value in customer.exposures { found.dates.insert(value.at) }
        for value in customer.grants { found.dates.formUnion([value.at, value.expiresAt]) }
        for value in authorisations { found.dates.formUnion([value.at, value.validUntil, value.expiresAt]) }
        found.dates.formUnion(redemptions)
        for fact in customer.teamFacts { if let date = fact.value.date { found.dates.insert(date) } }
        let moved = found.dates.flatMap { date in durations.flatMap { [date + $0, date - $0] } }
        // A bound may belong to what is before it, so there is another review a moment later.
        return (moved + dates).flatMap { [$0, $0 + .milliseconds(1)] }
    }
}

/// The durations and times in any value, found by reflection.
struct FoundTimes {
    private(set) var durations: Set<Duration> = []
    var dates: Set<Timestamp> = []

    mutating func add(_ value: Any) {
        switch value {
        case let duration as Duration: durations.insert(duration)
        case let date as Timestamp: dates.insert(date)
        case is String, is [UInt8], is any BinaryInteger: break
        default:
            var mirror: Mirror? = Mirror(reflecting: value)
            while let current = mirror {
                for child in current.children { add(child.value) }
                mirror = current.superclassMirror
            }
        }
    }
}

extension TeamFactValue {
    /// The date that the value may be; nil for anything else.
    fileprivate var date: Timestamp? {
        guard case .text(let utf8) = self else { return nil }
        return Timestamp(dateOrTime: String(decoding: utf8, as: UTF8.self))
    }
}
