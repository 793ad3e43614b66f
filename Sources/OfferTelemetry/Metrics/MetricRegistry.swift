import NIOConcurrencyHelpers

/// The value of a metric for one set of labels.
package protocol Series: AnyObject, Sendable {
    /// Appends the samples of the series in Prometheus' text format.
    /// - Parameter labels: the values of the metric's labels, in the same order.
    func write(to text: inout ExpositionText, of metric: Metric, labels: [String])
}

/// The series of the metrics that are updated as events happen.
package final class MetricRegistry: Sendable {
    private struct LabelledSeries {
        let labels: [String]
        let series: any Series
    }

    /// Series by metric name, in order of creation.
    private let series = NIOLockedValueBox<[String: [LabelledSeries]]>([:])

    package init() {}

    /// - Parameter values: one value for each of the metric's labels, in the same order.
    package func counter(_ metric: Metric, _ values: String...) -> Counter { find(metric, values) { Counter() } }

    package func gauge(_ metric: Metric) -> Gauge { find(metric, []) { Gauge() } }

    package func histogram(_ metric: Metric) -> Histogram { find(metric, []) { Histogram() } }

    /// Writes every series of a metric.
    package func write(_ metric: Metric, to text: inout ExpositionText) {
        for series in series.withLockedValue({ $0[metric.name] ?? [] }) {
            series.series.write(to: &text, of: metric, labels: series.labels)
        }
    }

    /// Returns the same series for the same labels, so that all handles update one value.
    private func find<Found: Series>(_ metric: Metric, _ labels: [String], make: () -> Found) -> Found {
        series.withLockedValue { series in
            if let known = series[metric.name]?.first(where: { $0.labels == labels })?.series as? Found { return known }
            let new = make()
            series[metric.name, default: []].append(LabelledSeries(labels: labels, series: new))
            return new
        }
    }
}
