import RealModule

/// An asymptotic confidence sequence: intervals that all contain the truth together with a probability of 95 %, however
/// often they are looked at. They are narrowest, compared with those for a single look, at a planned number of customers.
///
/// Source: I. Waudby-Smith et al., "Time-uniform central limit theory and asymptotic confidence sequences", 2023 (arXiv
/// 2103.06476v7), equations 9 and 161. The engine of GrowthBook uses the same.
package enum AlwaysValid {
    /// - Parameter plannedSize: the number of customers in both samples together for which the intervals are narrowest. It
    ///   must be set before the data is seen.
    /// - Returns: nil if the samples have no variance, because then they say nothing about the size of an error.
    package static func interval(_ one: SampleMoments, _ other: SampleMoments, plannedSize: Double) -> Interval? {
        let variance = one.varianceOfMean + other.varianceOfMean
        guard one.count > 0, other.count > 0, variance > 0 else { return nil }
        let size = Double(one.count + other.count)
        return .around(one.mean - other.mean, variance.squareRoot() * factor(size: size, plannedSize: plannedSize))
    }

    /// The half-width of the interval in standard errors.
    static func factor(size: Double, plannedSize: Double) -> Double {
        let bound = -2 * Double.log(Confidence.alpha)
        let tuning = (bound + Double.log(bound + 1)) / plannedSize
        let growth = size * tuning + 1
        return (2 * growth * Double.log(growth.squareRoot() / Confidence.alpha) / (size * tuning)).squareRoot()
    }
}
