/// A number of customers among all of a group, with Wilson's score interval.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
package struct Share: Hashable, Codable, Sendable {
    package var count: Int
    package var total: Int

    package init(_ count: Int = 0, of total: Int = 0) {
        self.count = count
        self.total = total
    }

    /// nil without customers.
    package var value: Double? { total > 0 ? Double(count) / Double(total) : nil }

    /// nil without customers.
    package var interval: Interval? {
        guard let value else { return nil }
        let (z, n) = (Confidence.twoSided, Double(total))
        let scale = 1 + z * z / n
        let centre = (value + z * z / (2 * n)) / scale
        let halfWidth = z / scale * (value * (1 - value) / n + z * z / (4 * n * n)).squareRoot()
        // Rounding must not push the ends of 0 and 1 outside.
        return Interval(count == 0 ? 0 : centre - halfWidth, count == total ? 1 : centre + halfWidth)
    }

    mutating func add(_ isCounted: Bool) {
        total += 1
        if isCounted { count += 1 }
    }
}
