/// The size, the mean and the variance of a sample.
package struct SampleMoments: Hashable, Codable, Sendable {
    package let count: Int
    package let mean: Double
    /// The unbiased estimate for amounts, and p(1 − p) for shares; 0 if there are too few values.
    package let variance: Double

    package init(count: Int, mean: Double, variance: Double) {
        self.count = count
        self.mean = mean
        self.variance = variance
    }

    package init(_ share: Share) {
        let value = share.value ?? 0
        self.init(count: share.total, mean: value, variance: value * (1 - value))
    }

    /// A sample of amounts, most of which are often 0.
    /// - Parameters:
    ///   - amounts: the amounts, without those that are 0. Their order makes no difference to the result.
    ///   - count: the number of values, including those that are 0.
    package init(_ amounts: [Int64], of count: Int) {
        // Sums of whole numbers are exact in any order; the squares are not.
        let mean = count > 0 ? Double(amounts.reduce(0, +)) / Double(count) : 0
        let squares = amounts.sorted().reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        let zeros = Double(count - amounts.count) * mean * mean
        self.init(count: count, mean: mean, variance: count > 1 ? (squares + zeros) / Double(count - 1) : 0)
    }

    /// The variance of the mean.
    var varianceOfMean: Double { count > 0 ? variance / Double(count) : 0 }
}
