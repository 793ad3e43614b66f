package import OfferCore

/// One subscription, and what is known about it up to the time of a report.
///
/// It is what Apple gives one `originalTransactionId`. Family shares and seats are none.
package struct ReportedSubscription: Sendable {
    package struct Period: Sendable {
        package let start: Timestamp
        /// The end of the paid time.
        package let end: Timestamp
        /// The end of the access that the period gives, not later than the start of the next period. If that is a renewal
        /// and starts a little late, access lasts until then.
        package let accessEnd: Timestamp
        /// Why access ended, if no other period followed.
        package let cause: EndCause
        package var product = ""
        /// The three-letter code of the storefront; empty if it is unknown.
        package var storefront = ""
        /// The billing plan; empty if it is unknown.
        package var plan = ""
        package var price = PriceKind.standard
        /// True if the App Store renewed the subscription.
        package var isRenewal = false
        /// True if the App Store could not collect the renewal at the end of the period.
        package var hasFailed = false
        /// The time of the payment after a failed renewal.
        package var recoveredAt: Timestamp?
        /// True if the App Store has said that nothing follows the period.
        package var isOver = false

        package init(start: Timestamp, end: Timestamp, accessEnd: Timestamp, cause: EndCause) {
            self.start = start
            self.end = end
            self.accessEnd = accessEnd
            self.cause = cause
        }
    }

    /// In ascending order, none of them after the time of the report.
    package let periods: [Period]
    /// True if the first period of the subscription is known.
    package var isKnownFromStart = true
    /// True if the customer has not agreed to a higher price of the next period.
    package var awaitsConsent = false
    /// The paid time that counts for Apple's commission, in days.
    package var paidDays: Int64 = 0

    package init(_ periods: [Period]) { self.periods = periods }
}

/// The kind of price of a period.
package enum PriceKind: String, CaseIterable, Hashable, Codable, Sendable {
    case standard
    /// A free introductory offer.
    case trial
    /// An introductory offer that is not free.
    case introductory
    /// Another offer, such as a promotional offer, an offer code or a win-back offer.
    case offer
}

extension ReportedSubscription {
    /// A span of access without a gap, as places in ``periods``.
    typealias Run = ClosedRange<Int>

    /// The spans of access, in ascending order. Periods without access are in none.
    var runs: [Run] {
        var runs: [Run] = []
        for place in periods.indices where periods[place].accessEnd > periods[place].start {
            if let last = runs.last, periods[place].start <= periods[last.upperBound].accessEnd {
                runs[runs.count - 1] = last.lowerBound...place
            } else {
                runs.append(place...place)
            }
        }
        return runs
    }

    func hasAccess(at time: Timestamp) -> Bool {
        periods.contains { $0.start <= time && time < $0.accessEnd }
    }
}
