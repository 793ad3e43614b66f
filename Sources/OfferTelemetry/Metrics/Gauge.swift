import Synchronization

/// A number that goes up and down. It is exported once it has been set.
package final class Gauge: Series {
    /// The bits of a Double; NaN until the first value.
    private let bits = Atomic<UInt64>(Double.nan.bitPattern)

    package init() {}

    package func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    package func increment(by amount: Double = 1) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let next = (Double(bitPattern: old) + amount).bitPattern
            let (isExchanged, found) = bits.weakCompareExchange(expected: old, desired: next, ordering: .relaxed)
            if isExchanged { return }
            old = found
        }
    }

    package func decrement() { increment(by: -1) }

    package func write(to text: inout ExpositionText, of metric: Metric, labels: [String]) {
        let value = Double(bitPattern: bits.load(ordering: .relaxed))
        if !value.isNaN { text.sample(metric.name, metric.labels, labels, value) }
    }
}
