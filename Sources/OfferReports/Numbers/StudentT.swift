import RealModule

/// Student's t distribution.
enum StudentT {
    /// Returns the quantile of 0.975, exact to about 1e-11.
    /// - Parameter freedom: the degrees of freedom, at least 1.
    static func quantile(degreesOfFreedom freedom: Double) -> Double {
        if freedom >= 1000 { return expansion(freedom) }
        var (low, high) = (Confidence.twoSided, 13.0)
        while high - low > 1e-13 * high {
            let middle = (low + high) / 2
            if middle == low || middle == high { break }
            if upperTail(middle, freedom) > Confidence.alpha / 2 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The expansion of R. A. Fisher and E. A. Cornish, 1960 (Abramowitz and Stegun, 26.7.5).
    private static func expansion(_ freedom: Double) -> Double {
        let z = Confidence.twoSided
        let z2 = z * z
        let first = z * (z2 + 1) / 4
        let second = z * ((5 * z2 + 16) * z2 + 3) / 96
        let third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384
        let fourth = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92_160
        return z + (first + (second + (third + fourth / freedom) / freedom) / freedom) / freedom
    }

    private static func upperTail(_ t: Double, _ freedom: Double) -> Double {
        incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    }

    /// The regularised incomplete beta function I_x(a, b), by the continued fraction of Abramowitz and Stegun, 26.5.8, which
    /// is evaluated with the method of Lentz.
    private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        if x > (a + 1) / (a + b + 2) { return 1 - incompleteBeta(1 - x, b, a) }
        let scale = Double.logGamma(a + b) - Double.logGamma(a) - Double.logGamma(b)
        let front = Double.exp(scale + a * Double.log(x) + b * Double.log(onePlus: -x)) / a
        let tiny = 1e-300
        func nonzero(_ value: Double) -> Double { abs(value) < tiny ? tiny : value }
        var (c, d) = (1.0, 1 / nonzero(1 - (a + b) * x / (a + 1)))
        var fraction = d
        for step in 1...1000 {
            let m = Double(step)
            let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            d = 1 / nonzero(1 + even * d)
            c = nonzero(1 + even / c)
            fraction *= d * c
            let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            d = 1 / nonzero(1 + odd * d)
            c = nonzero(1 + odd / c)
            fraction *= d * c
            if abs(d * c - 1) < 1e-16 { break }
        }
        return front * fraction
    }
}
