import RealModule

/// The Kaplan-Meier estimate of the share that lasts longer than a time, with Greenwood's variance.
///
/// The band uses the transformation log(−log), so it stays between 0 and 1. Source: J. D. Kalbfleisch and R. L. Prentice,
/// "The statistical analysis of failure time data", 1980.
package struct SurvivalCurve<Time: Comparable & Sendable>: Sendable {
    /// The values from each time with an end, in ascending order.
    package let steps: [(time: Time, point: CurvePoint)]
    private let times: [Time]

    package init<Cause>(_ observations: [Observation<Time, Cause>]) {
        times = observations.map(\.time).sorted()
        var (value, variance) = (1.0, 0.0)
        steps = Instant.all(observations).map { instant in
            let (ended, atRisk) = (Double(instant.ended.values.reduce(0, +)), Double(instant.atRisk))
            value *= (atRisk - ended) / atRisk
            if atRisk > ended { variance += ended / (atRisk * (atRisk - ended)) }
            return (instant.time, CurvePoint(value: value, interval: Interval(survival: value, variance: variance)))
        }
    }

    package func point(at time: Time) -> CurvePoint {
        steps.last { $0.time <= time }?.point ?? CurvePoint(value: 1, interval: nil)
    }

    /// Returns the number of those known to last at least until a time.
    package func atRisk(at time: Time) -> Int { times.count { $0 >= time } }
}

extension Interval {
    /// - Parameter variance: Greenwood's sum, the variance of the logarithm of `survival`.
    fileprivate init?(survival: Double, variance: Double) {
        guard survival > 0, survival < 1 else { return nil }
        let width = Confidence.twoSided * variance.squareRoot() / Double.log(survival)
        self.init(Double.pow(survival, Double.exp(-width)), Double.pow(survival, Double.exp(width)))
    }
}
