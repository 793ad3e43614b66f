import Synchronization

/// A histogram of durations, with fixed upper bounds.
///
/// A signature takes about 20 µs and its verification takes 25 to 45 µs, so the bounds are close together there. A much
/// longer duration means that the thread was waiting for a processor.
package final class Histogram: Series {
    /// Upper bounds in nanoseconds, inclusive. Longer durations fall into one additional bucket.
    static let bounds: [Int64] = [
        10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 80_000, 100_000, 150_000, 250_000, 500_000,
        1_000_000, 2_500_000, 10_000_000, 50_000_000, 250_000_000, 1_000_000_000,
    ]

    private let buckets: InlineArray<20, Atomic<Int64>> = InlineArray { _ in Atomic(0) }
    private let nanoseconds = Atomic<Int64>(0)

    package init() {}

    package func record(nanoseconds duration: Int64) {
        var bucket = 0
        while bucket < Self.bounds.count, duration > Self.bounds[bucket] { bucket += 1 }
        buckets[bucket].wrappingAdd(1, ordering: .relaxed)
        nanoseconds.wrappingAdd(duration, ordering: .relaxed)
    }

    package func write(to text: inout ExpositionText, of metric: Metric, labels: [String]) {
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
