package import OfferCore

/// The subject of a report, and its way of counting. The same question about the same data gives the same report, byte for byte.
package struct ReportQuestion: Hashable, Codable, Sendable {
    package let productID: String
    package let offerID: String
    /// The sample whose places make the arms; nil if the rule has none.
    package let sample: String?
    /// Nothing later counts.
    package let asOf: Timestamp
    /// The share of customers in the sample, between 0 and 1; nil if the current rules do not name it.
    package var plannedShare: Double?
    /// The smallest difference of access that would be worth having, such as 0.03 for three points of a hundred.
    package var smallestEffect = 0.03
    /// The share with access that is expected without the offer. Only the planned size depends on it.
    package var expectedAccess = 0.5
    /// The day after exposure at which the arms are compared.
    package var effectDay = 30
    /// The number of days after exposure within which a redemption counts as a conversion.
    package var conversionDays = 7
    /// The number of days after exposure up to which access is followed.
    package var horizon = 180
    package var span = CohortSpan.week
    package var zone = ReportZone.utc
    /// The names of the team's facts that are compared, in the order of the report.
    package var tracked: [String] = []
    /// The app's bundle ID; empty if it is unknown.
    package var bundleID = ""
    /// The environment of the customers, such as `Production`; empty if it is unknown.
    package var environment = ""
    /// The digest of the rules in force, in hexadecimal; empty if it is unknown.
    package var rulesDigest = ""

    package init(productID: String, offerID: String, sample: String?, asOf: Timestamp) {
        self.productID = productID
        self.offerID = offerID
        self.sample = sample
        self.asOf = asOf
    }

    /// The days after exposure at which access is counted.
    package var accessDays: [Int] {
        let step = max(1, (horizon + 29) / 30)
        return Set(Array(stride(from: 0, through: horizon, by: step)) + [effectDay]).sorted()
    }

    /// The days after exposure up to which payments are added.
    var paidDays: [Int] { Set([effectDay, horizon]).sorted() }

    /// The days after redemption at which the retention of redeemers is listed.
    package static let retentionDays = [1, 7, 14, 30, 60, 90, 120, 150, 180, 270, 365, 545, 730]

    /// The number of customers for which the always-valid interval is tuned. It depends on nothing that is observed.
    package var plannedSize: Double {
        let heldOut = plannedShare.map { 1 - $0 } ?? 0.1
        return SampleSize.forOneLook(
            effect: smallestEffect, base: expectedAccess, heldOut: min(0.99, max(0.01, heldOut))
        ).rounded(.up)
    }
}

extension Timestamp {
    /// The time so many days of 24 hours later.
    func adding(days: Int) -> Timestamp { self + .days(days) }
}
