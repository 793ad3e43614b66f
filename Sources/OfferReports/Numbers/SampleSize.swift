import RealModule

/// The number of customers for which an experiment is planned.
package enum SampleSize {
    /// Returns the number of customers in both groups together with which one look finds an effect in 8 of 10 cases.
    ///
    /// The normal approximation with the arcsine transformation. Source: J. Cohen, "Statistical power analysis for the
    /// behavioral sciences", 1988.
    /// - Parameters:
    ///   - effect: the difference of the shares.
    ///   - base: the share without the offer.
    ///   - heldOut: the share of customers who are held out, between 0 and 1.
    package static func forOneLook(effect: Double, base: Double, heldOut: Double) -> Double {
        let distance = 2 * (angle(base + effect) - angle(base))
        let needed = (Confidence.twoSided + Confidence.power) / distance
        return needed * needed / (heldOut * (1 - heldOut))
    }

    private static func angle(_ share: Double) -> Double { Double.asin(min(1, max(0, share)).squareRoot()) }

    /// Returns the number of customers in both groups together with which the always-valid interval shows an effect in 8
    /// of 10 cases at a single look, and sooner or later in more.
    /// - Parameters:
    ///   - variance: the variance of the difference, multiplied by the number of customers.
    ///   - plannedSize: see ``AlwaysValid``.
    /// - Returns: nil above a billion customers.
    package static func forAnyLook(effect: Double, variance: Double, plannedSize: Double) -> Double? {
        func isEnough(_ size: Double) -> Bool {
            let error = (variance / size).squareRoot()
            let factor = AlwaysValid.factor(size: size, plannedSize: plannedSize)
            return (factor + Confidence.power) * error <= effect
        }
        var (low, high) = (1.0, 1e9)
        guard isEnough(high) else { return nil }
        while high - low > 0.5 {
            let middle = (low + high) / 2
            if isEnough(middle) { high = middle } else { low = middle }
        }
        return high.rounded(.up)
    }
}
