/// The effect of one offer, with the numbers from which it follows.
package struct OfferReport: Codable, Sendable {
    package let question: ReportQuestion
    package let funnel: Funnel
    /// The share with access on each day of ``ReportQuestion/accessDays``, among those exposed at least that long ago.
    package let access: [DayOfAccess]
    /// The change that the offer made to access on ``ReportQuestion/effectDay``.
    package let effect: Effect
    /// By currency, then by day.
    package let paid: [Paid]
    /// The facts that the team tracks.
    package let engagement: [Engagement]
    package let retention: Retention
    /// The ends of access of redeemers in each week or month, the oldest first.
    package let churn: [PeriodChurn]
    /// The oldest first.
    package let cohorts: [Cohort]
    /// The complete cohorts together.
    package let total: Outcomes
    /// The same numbers by channel, by rule and by storefront, of the complete cohorts.
    package let groups: [Group]
    package let trust: Trust

    package struct Funnel: Hashable, Codable, Sendable {
        package internal(set) var exposed = ByArm<Int>()
        /// Of the exposed, the customers whose data was erased. Only the exposure is known, so no other number counts them.
        package internal(set) var erased = ByArm<Int>()
        /// The numbers from here on are of customers in the arm *offered*.
        package internal(set) var signed = 0
        package internal(set) var signatures = 0
        package internal(set) var shown = 0
        package internal(set) var redeemed = 0
        /// Of the redeemers whose last discounted period has ended, those who paid the next one at no discount.
        package internal(set) var kept = Share()
        /// The redeemers of whom no data says whether they paid it.
        package internal(set) var keptUnknown = 0
    }

    package struct DayOfAccess: Hashable, Codable, Sendable {
        package let day: Int
        package internal(set) var arms = ByArm<Share>()
    }

    /// The behavior of one group of customers within the set number of days.
    package struct Outcomes: Hashable, Codable, Sendable {
        package internal(set) var exposed = ByArm<Int>()
        /// The customers who redeemed the offer within ``ReportQuestion/conversionDays``.
        package internal(set) var converted = ByArm<Share>()
        /// The customers with access on ``ReportQuestion/effectDay``.
        package internal(set) var access = ByArm<Share>()
    }

    package struct Cohort: Hashable, Codable, Sendable {
        /// The first day, such as `2026-11-16`.
        package let start: String
        package let outcomes: Outcomes
        /// True if every customer of the cohort was exposed long enough ago.
        package let isConversionComplete: Bool
        package let isAccessComplete: Bool
    }

    package struct Group: Hashable, Codable, Sendable {
        package enum Kind: String, CaseIterable, Codable, Sendable { case channel, rule, storefront }

        package let kind: Kind
        /// Empty if it is unknown, or for an inline rule.
        package let name: String
        package let outcomes: Outcomes
    }

    package struct Effect: Hashable, Codable, Sendable {
        package let arms: ByArm<Share>
        package let difference: Difference?
        package let verdict: Verdict
    }

    package struct Paid: Hashable, Codable, Sendable {
        package let currency: String
        package let day: Int
        /// In thousandths of the currency, per exposed customer.
        package let arms: ByArm<SampleMoments>
        package let difference: Difference?
        package let verdict: Verdict
    }

    package struct Retention: Codable, Sendable {
        package struct Row: Hashable, Codable, Sendable {
            /// Days since redemption, or renewals.
            package let place: Int
            package let atRisk: Int
            package let kept: CurvePoint
            /// The share whose access has ended, by cause.
            package let ended: [EndCause: CurvePoint]
        }

        /// The redeemers who are followed.
        package let count: Int
        package let byDay: [Row]
        package let byRenewal: [Row]
    }

    package struct PeriodChurn: Hashable, Codable, Sendable {
        package let start: String
        /// The redeemers with access at the beginning of the period whose access ended in it.
        package internal(set) var ended = Share()
        /// The redeemers whose access began again in the period, whenever it had ended.
        package internal(set) var resubscribed = 0
        package let isComplete: Bool
    }
}
