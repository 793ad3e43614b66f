import RealModule

/// The Aalen-Johansen estimate of the share that has ended for one cause by a time, while other causes compete.
///
/// One minus the Kaplan-Meier estimate of each cause would overstate every cause. The variance is that of the delta method,
/// with the transformation log(−log). Source: D. Collett, "Modelling survival data in medical research", 3rd edition.
package struct CumulativeIncidence<Time: Comparable & Sendable>: Sendable {
    /// The values from each time with an end for any cause, in ascending order.
    package let steps: [(time: Time, point: CurvePoint)]

    package init<Cause>(_ observations: [Observation<Time, Cause>], of cause: Cause) {
        var (survival, incidence) = (1.0, 0.0)
        var (all, own, variance) = (WeightedSums(), WeightedSums(), 0.0)
        steps = Instant.all(observations).map { instant in
            let (atRisk, ended) = (Double(instant.atRisk), Double(instant.ended.values.reduce(0, +)))
            let causes = Double(instant.ended[cause] ?? 0)
            incidence += survival * causes / atRisk
            if atRisk > ended { all.add(ended / (atRisk * (atRisk - ended)), at: incidence) }
            variance += survival * survival * causes * (atRisk - causes) / (atRisk * atRisk * atRisk)
            own.add(survival * causes / (atRisk * atRisk), at: incidence)
            survival *= (atRisk - ended) / atRisk
            let total = all.squares(from: incidence) + variance - 2 * own.distances(from: incidence)
            return (
                instant.time, CurvePoint(value: incidence, interval: Interval(incidence: incidence, variance: total))
            )
        }
    }

    package func point(at time: Time) -> CurvePoint {
        steps.last { $0.time <= time }?.point ?? CurvePoint(value: 0, interval: nil)
    }
}

/// Sums over earlier times that are needed anew, with other distances, at each time.
private struct WeightedSums {
    private var (weights, first, second) = (0.0, 0.0, 0.0)

    mutating func add(_ weight: Double, at value: Double) {
        weights += weight
        first += weight * value
        second += weight * value * value
    }

    func distances(from value: Double) -> Double { weights * value - first }

    func squares(from value: Double) -> Double { (weights * value - 2 * first) * value + second }
}

extension Interval {
    fileprivate init?(incidence: Double, variance: Double) {
        guard incidence > 0, incidence < 1, variance >= 0 else { return nil }
        let width = Confidence.twoSided * variance.squareRoot() / (incidence * Double.log(incidence))
        self.init(
            Double.pow(incidence, Double.exp(-width)), Double.pow(incidence, Double.exp(width)))
    }
}
