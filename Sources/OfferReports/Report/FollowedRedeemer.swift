import OfferCore

/// A redeemer, from the redemption to the end of access.
struct FollowedRedeemer {
    /// The redemption, or the start of access if that is later.
    let start: Timestamp
    /// In milliseconds since ``start``.
    let byTime: Observation<Int64, EndCause>
    /// The event is the first renewal that did not come.
    let byRenewal: Observation<Int, EndCause>

    /// - Returns: nil if access is still in the future.
    init?(_ customer: ExposedCustomer, until end: Timestamp) {
        guard let redeemedAt = customer.redeemedAt, let span = customer.redeemedSpan, span.start <= end else {
            return nil
        }
        start = max(redeemedAt, span.start)
        let (known, cause) = span.end <= end ? (span.end, span.cause) : (end, nil)
        byTime = Observation(known.milliseconds - start.milliseconds, cause)
        let renewals = customer.renewedAt.count { [start] time in start < time && time <= known && time < span.end }
        byRenewal = Observation(cause == nil ? renewals : renewals + 1, cause)
    }
}

extension OfferReport.Retention {
    init(_ redeemers: [FollowedRedeemer]) {
        count = redeemers.count
        let (times, renewals) = (redeemers.map(\.byTime), redeemers.map(\.byRenewal))
        let longest = times.map(\.time).max() ?? 0
        let day = CivilDay.milliseconds
        byDay = Self.rows(times, ReportQuestion.retentionDays.filter { Int64($0) * day <= longest }) { Int64($0) * day }
        byRenewal = Self.rows(renewals, Array(1...24).filter { $0 <= renewals.map(\.time).max() ?? 0 }) { $0 }
    }

    private static func rows<Time: Comparable & Sendable>(
        _ observations: [Observation<Time, EndCause>], _ places: [Int], _ time: (Int) -> Time
    ) -> [Row] {
        let curve = SurvivalCurve(observations)
        let causes = EndCause.allCases.filter { cause in observations.contains { $0.cause == cause } }
        let incidences = causes.map { CumulativeIncidence(observations, of: $0) }
        return places.map { place in
            let time = time(place)
            let ended = zip(causes, incidences).map { ($0, $1.point(at: time)) }
            return Row(
                place: place, atRisk: curve.atRisk(at: time), kept: curve.point(at: time),
                ended: Dictionary(uniqueKeysWithValues: ended))
        }
    }
}
