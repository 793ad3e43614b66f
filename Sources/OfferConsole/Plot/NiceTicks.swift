/// Round values for the ticks of an axis: multiples of 1, 2 or 5 times a power of ten.
package struct NiceTicks: Sendable {
    /// Ascending. The first is at most the lowest value, and the last at least the highest.
    let values: [Double]
    let step: Double

    /// - Parameters:
    ///   - highest: values that are not finite or not above `lowest` give an axis of one step.
    ///   - count: the approximate number of steps, at least 1.
    ///   - isWhole: true if steps must be whole numbers, as for counts.
    package init(from lowest: Double, to highest: Double, count: Int = 4, isWhole: Bool = false) {
        let lowest = lowest.isFinite && abs(lowest) < Self.maximum ? lowest : 0
        let highest = highest.isFinite && abs(highest) < Self.maximum && highest > lowest ? highest : lowest + 1
        let rough = (highest - lowest) / Double(max(1, count))
        var power = 1.0
        while power * 10 <= rough { power *= 10 }
        while power > rough, power > 1e-12 { power /= 10 }
        var step = power * ([1, 2, 5, 10].first { $0 * power >= rough * (1 - 1e-9) } ?? 10)
        if isWhole { step = max(1, step.rounded(.up)) }
        let first = Int((lowest / step).rounded(.down))
        let last = max(first + 1, Int((highest / step - 1e-9).rounded(.up)))
        self.step = step
        // A step too small for the size of the values would give no distinct ticks.
        values = last - first > 100 ? [lowest, highest] : (first...last).map { Double($0) * step }
    }

    package var lowest: Double { values.first ?? 0 }
    package var highest: Double { values.last ?? 1 }

    /// The largest value of an axis: above it, doubles no longer hold all whole numbers.
    private static let maximum = 9e15

    /// The value with the decimals that the step needs, and a comma between each three digits.
    func text(_ value: Double) -> String {
        var decimals = 0
        var scaled = step
        while decimals < 6, abs(scaled - scaled.rounded()) > 1e-6 {
            scaled *= 10
            decimals += 1
        }
        return DecimalText.grouped(value, decimals: decimals)
    }
}
