/// A range of values. All intervals of reports are made for a confidence of 95 %.
package struct Interval: Hashable, Codable, Sendable {
    package let lower: Double
    package let upper: Double

    package init(_ lower: Double, _ upper: Double) {
        self.lower = lower
        self.upper = upper
    }

    package static func around(_ value: Double, _ halfWidth: Double) -> Interval {
        Interval(value - halfWidth, value + halfWidth)
    }

    /// True if 0 is not in the interval.
    package var excludesZero: Bool { lower > 0 || upper < 0 }

    /// True if every value in the interval is closer to 0 than `distance`.
    package func isWithin(_ distance: Double) -> Bool { -distance < lower && upper < distance }
}

/// The confidence of intervals, and the quantiles of the standard normal distribution that belong to it.
package enum Confidence {
    /// The probability that an interval misses the truth.
    package static let alpha = 0.05
    /// The quantile of 0.975.
    package static let twoSided = 1.959963984540054
    /// The quantile of 0.8: a sample of the planned size finds the effect in 8 of 10 cases.
    package static let power = 0.8416212335729143
}
