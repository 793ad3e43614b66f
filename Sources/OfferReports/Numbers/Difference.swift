/// The difference between the means of two independent samples, with two intervals.
package struct Difference: Hashable, Codable, Sendable {
    package let value: Double
    /// The interval for one look at a time that was set beforehand; nil if a sample is too small.
    package let once: Interval?
    /// The interval that holds at all looks together; nil if a sample is too small.
    package let always: Interval?

    /// The difference of two shares, with Newcombe's hybrid score interval.
    ///
    /// Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", 1998, method 10.
    /// - Returns: nil if a group has no customers.
    package init?(_ one: Share, _ other: Share, plannedSize: Double) {
        guard let p1 = one.value, let p2 = other.value, let first = one.interval, let second = other.interval else {
            return nil
        }
        value = p1 - p2
        let below = ((p1 - first.lower) * (p1 - first.lower) + (second.upper - p2) * (second.upper - p2)).squareRoot()
        let above = ((p2 - second.lower) * (p2 - second.lower) + (first.upper - p1) * (first.upper - p1)).squareRoot()
        once = Interval(value - below, value + above)
        always = AlwaysValid.interval(SampleMoments(one), SampleMoments(other), plannedSize: plannedSize)
    }

    /// The difference of two means, with Welch's interval.
    ///
    /// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
    /// involved", 1947.
    /// - Returns: nil if a sample is empty.
    package init?(_ one: SampleMoments, _ other: SampleMoments, plannedSize: Double) {
        guard one.count > 0, other.count > 0 else { return nil }
        value = one.mean - other.mean
        let (first, second) = (one.varianceOfMean, other.varianceOfMean)
        guard one.count > 1, other.count > 1, first + second > 0 else {
            (once, always) = (nil, nil)
            return
        }
        let freedom =
            (first + second) * (first + second)
            / (first * first / Double(one.count - 1) + second * second / Double(other.count - 1))
        once = .around(value, StudentT.quantile(degreesOfFreedom: freedom) * (first + second).squareRoot())
        always = AlwaysValid.interval(one, other, plannedSize: plannedSize)
    }
}
