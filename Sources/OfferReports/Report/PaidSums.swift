/// The payments of exposed customers, by currency, day and arm.
struct PaidSums {
    private struct Key: Hashable {
        let currency: String
        let day: Int
    }

    /// The customers who were exposed at least so many days ago.
    private var observed: [Int: ByArm<Int>] = [:]
    /// The sums of those who paid.
    private var amounts: [Key: ByArm<[Int64]>] = [:]

    mutating func add(_ customer: ExposedCustomer, _ question: ReportQuestion) {
        for day in question.paidDays {
            let end = customer.exposedAt.adding(days: day)
            guard end <= question.asOf else { continue }
            observed[day, default: ByArm()][customer.arm] += 1
            for (currency, amount) in customer.paid(until: end) where amount != 0 {
                amounts[Key(currency: currency, day: day), default: ByArm([], [])][customer.arm].append(amount)
            }
        }
    }

    func rows(_ question: ReportQuestion, _ exposed: ByArm<Int>, isBroken: Bool) -> [OfferReport.Paid] {
        let sorted = amounts.sorted { ($0.key.currency, $0.key.day) < ($1.key.currency, $1.key.day) }
        return sorted.map { key, amounts in
            let observed = observed[key.day] ?? ByArm()
            let arms = ByArm(
                SampleMoments(amounts.offered, of: observed.offered),
                SampleMoments(amounts.heldOut, of: observed.heldOut))
            let difference = Difference(arms.offered, arms.heldOut, plannedSize: question.plannedSize)
            return OfferReport.Paid(
                currency: key.currency, day: key.day, arms: arms, difference: difference,
                verdict: Verdict(difference, exposed, isBroken: isBroken, smallest: nil, more: nil))
        }
    }
}
