import Synchronization

/// A number that is 0 when the process starts and only grows.
package final class Counter: Series {
    private let count = Atomic<Int64>(0)

    package init() {}

    package func increment(by amount: Int = 1) { count.wrappingAdd(Int64(amount), ordering: .relaxed) }

    package func write(to text: inout ExpositionText, of metric: Metric, labels: [String]) {
        text.sample(metric.name, metric.labels, labels, Double(count.load(ordering: .relaxed)))
    }
}
