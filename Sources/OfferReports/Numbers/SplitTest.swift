import RealModule

/// A test whether customers were divided between two groups as planned: Pearson's chi-square with one degree of freedom.
package struct SplitTest: Hashable, Codable, Sendable {
    /// The customers of the first group among all.
    package let share: Share
    /// The planned share of the first group, between 0 and 1.
    package let planned: Double

    package init(_ share: Share, planned: Double) {
        self.share = share
        self.planned = planned
    }

    package var statistic: Double {
        let total = Double(share.total)
        guard total > 0 else { return 0 }
        let distance = Double(share.count) - planned * total
        return distance * distance / (planned * total) + distance * distance / ((1 - planned) * total)
    }

    /// The probability of a division at least this unequal if it is made as planned.
    package var probability: Double { Double.erfc((statistic / 2).squareRoot()) }

    /// True if the division can hardly be chance. A report then has no meaning. With fewer than five customers expected in a
    /// group, the chi-square distribution gives too low a probability, and the answer is false.
    package var isBroken: Bool {
        Double(share.total) * min(planned, 1 - planned) >= 5 && probability < Self.threshold
    }

    /// Low, because the test is repeated with each report.
    package static let threshold = 0.001
}
