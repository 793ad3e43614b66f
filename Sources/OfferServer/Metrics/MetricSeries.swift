import CoreMetrics
import Synchronization

/// The value of a metric for one set of labels.
protocol MetricSeries: AnyObject, Sendable {
    func write(to text: inout ExpositionText, of metric: Metric, labels: [String])
}

final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }

    func write(to text: inout ExpositionText, of metric: Metric, labels: [String]) {
        text.sample(metric.name, metric.labels, labels, Double(count.load(ordering: .relaxed)))
    }
}

/// Is not shown before it has been set.
final class GaugeSeries: MetricSeries, MeterHandler {
    /// The bits of a Double.
    private let bits = Atomic<UInt64>(Double.nan.bitPattern)

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func increment(by amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let next = (Double(bitPattern: old) + amount).bitPattern
            let (isExchanged, found) = bits.weakCompareExchange(expected: old, desired: next, ordering: .relaxed)
            if isExchanged { return }
            old = found
        }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    func write(to text: inout ExpositionText, of metric: Metric, labels: [String]) {
        let value = Double(bitPattern: bits.load(ordering: .relaxed))
        if !value.isNaN { text.sample(metric.name, metric.labels, labels, value) }
    }
}

/// How many durations there were up to each of fixed bounds.
///
/// A signature takes some 20 µs and its verification 25 to 45, so the bounds are close to each other there; what takes far longer
/// waited for a processor.
final class HistogramSeries: MetricSeries, TimerHandler {
    /// In nanoseconds, each included in its bucket; what is longer is in one more.
    static let bounds: [Int64] = [
        10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 80_000, 100_000, 150_000, 250_000, 500_000,
        1_000_000, 2_500_000, 10_000_000, 50_000_000, 250_000_000, 1_000_000_000,
    ]

    private let buckets: InlineArray<20, Atomic<Int64>> = InlineArray { _ in Atomic(0) }
    private let nanoseconds = Atomic<Int64>(0)

    func recordNanoseconds(_ duration: Int64) {
        var bucket = 0
        while bucket < Self.bounds.count, duration > Self.bounds[bucket] { bucket += 1 }
        buckets[bucket].wrappingAdd(1, ordering: .relaxed)
        nanoseconds.wrappingAdd(duration, ordering: .relaxed)
    }

    func write(to text: inout ExpositionText, of metric: Metric, labels: [String]) {
        let bounds = Self.bounds.map { ExpositionText.number(Double($0) / 1e9) } + ["+Inf"]
        var count: Int64 = 0
        for (index, bound) in bounds.enumerated() {
            count += buckets[index].load(ordering: .relaxed)
            text.sample(metric.name + "_bucket", metric.labels + ["le"], labels + [bound], Double(count))
        }
        text.sample(
            metric.name + "_sum", metric.labels, labels, Double(nanoseconds.load(ordering: .relaxed)) / 1e9)
        text.sample(metric.name + "_count", metric.labels, labels, Double(count))
    }
}
