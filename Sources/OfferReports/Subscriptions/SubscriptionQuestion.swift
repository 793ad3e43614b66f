package import OfferCore

/// The subject of a report about the subscriptions of an app. The same question about the same data gives the same report,
/// byte for byte.
package struct SubscriptionQuestion: Hashable, Codable, Sendable {
    /// Nothing later counts.
    package let asOf: Timestamp
    package var span = CohortSpan.month
    package var zone = ReportZone.utc
    /// The app's bundle ID; empty if it is unknown.
    package var bundleID = ""
    /// The environment, such as `Production`; empty if it is unknown.
    package var environment = ""
    /// The digest of the rules in force, in hexadecimal; empty if it is unknown.
    package var rulesDigest = ""

    /// The share of customers in each sample, between 0 and 1, by its name. Only samples of one size have it.
    package var plannedShares: [String: Double] = [:]

    package init(asOf: Timestamp) { self.asOf = asOf }

    /// The number of weeks or months in the report, including the running one.
    package static let periodCount = 24
    /// The number of weeks or months for which each cohort is followed.
    package static let followed = 12
    /// The days after a failed payment for which recovery is listed.
    package static let recoveryDays = [1, 2, 3, 5, 7, 10, 14, 16, 21, 28, 45, 60]
    /// The first paid days of each class. From the last one on, Apple's commission is lower.
    package static let paidDayClasses: [Int64] = [0, 90, 180, 270, 365]
    /// The number of groups of one kind. Of more, the smallest ones are together in one.
    package static let maximumGroups = 20

    /// The first days of the weeks or months, the oldest first, and the first day after them.
    var days: [CivilDay] {
        let last = span.first(containing: asOf, in: zone)
        let first = span.first(Self.periodCount - 1, before: last)
        return (0..<Self.periodCount).reduce(into: [first]) { days, _ in
            days.append(span.next(after: days[days.count - 1]))
        }
    }
}
