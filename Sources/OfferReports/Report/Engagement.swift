/// A comparison of the arms by one fact of the team, on ``ReportQuestion/effectDay``.
package struct Engagement: Hashable, Codable, Sendable {
    package let fact: String
    /// The customers who have the fact, among those exposed long enough ago.
    package let arms: ByArm<Share>
    package let difference: Difference?
    /// nil if no customer has a number.
    package let numbers: Numbers?
    /// The oldest first.
    package let cohorts: [Cohort]

    package struct Numbers: Hashable, Codable, Sendable {
        /// In thousandths, per customer.
        package let mean: ByArm<SampleMoments>
        package let meanDifference: Difference?
        /// The change since the exposure, in thousandths, per customer.
        package let change: ByArm<SampleMoments>
        package let changeDifference: Difference?
    }

    package struct Cohort: Hashable, Codable, Sendable {
        package let start: String
        /// True if every customer of the cohort was exposed long enough ago.
        package let isComplete: Bool
        package let arms: ByArm<Share>
        /// In thousandths, per customer; nil if no customer of the report has a number.
        package let mean: ByArm<SampleMoments>?
    }
}

/// The counts and sums of one fact.
struct EngagementSums {
    struct Group {
        var arms = ByArm<Share>()
        var number = ByArm(ExactSums(), ExactSums())
        var change = ByArm(ExactSums(), ExactSums())

        static func += (left: inout Self, right: Self) {
            left.arms += right.arms
            for arm in ExposedCustomer.Arm.allCases {
                left.number[arm] += right.number[arm]
                left.change[arm] += right.change[arm]
            }
        }
    }

    private var hasNumbers = false
    private var cohorts: [CivilDay: Group] = [:]

    /// - Parameter customer: one who was exposed long enough ago.
    mutating func add(_ fact: String, of customer: ExposedCustomer, _ cohort: CivilDay, _ question: ReportQuestion) {
        let history = customer.facts[fact] ?? FactHistory()
        let value = history.value(at: customer.exposedAt.adding(days: question.effectDay))
        if case .number = value { hasNumbers = true }
        var group = cohorts[cohort] ?? Group()
        group.arms[customer.arm].add(value != .none)
        group.number[customer.arm].add(value.amount)
        group.change[customer.arm].add(value.amount - history.value(at: customer.exposedAt).amount)
        cohorts[cohort] = group
    }

    func engagement(
        _ fact: String, _ question: ReportQuestion, isComplete: (CivilDay) -> Bool
    ) -> Engagement {
        var all = Group()
        for (_, group) in cohorts { all += group }
        func moments(_ sums: ByArm<ExactSums>) -> ByArm<SampleMoments> {
            ByArm(sums.offered.moments, sums.heldOut.moments)
        }
        func difference(_ arms: ByArm<SampleMoments>) -> Difference? {
            Difference(arms.offered, arms.heldOut, plannedSize: question.plannedSize)
        }
        let (mean, change) = (moments(all.number), moments(all.change))
        return Engagement(
            fact: fact, arms: all.arms, difference: all.arms.difference(plannedSize: question.plannedSize),
            numbers: hasNumbers
                ? Engagement.Numbers(
                    mean: mean, meanDifference: difference(mean), change: change, changeDifference: difference(change))
                : nil,
            cohorts: cohorts.sorted { $0.key < $1.key }.map { day, group in
                Engagement.Cohort(
                    start: day.text, isComplete: isComplete(day), arms: group.arms,
                    mean: hasNumbers ? moments(group.number) : nil)
            })
    }
}
