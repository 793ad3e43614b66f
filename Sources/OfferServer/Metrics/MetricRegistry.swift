package import CoreMetrics
import NIOConcurrencyHelpers

/// A backend of swift-metrics that keeps the values of the metrics in ``Metric/all``, and of no other: whatever else a
/// library would count has labels that nobody here has looked at.
package final class MetricRegistry: MetricsFactory {
    private struct LabelledSeries {
        let labels: [String]
        let series: any MetricSeries
    }

    private let metrics = Dictionary(uniqueKeysWithValues: Metric.all.map { ($0.name, $0) })
    /// By the name of the metric, in the order in which they were made.
    private let series = NIOLockedValueBox<[String: [LabelledSeries]]>([:])

    package init() {}

    /// - Parameter values: of the labels, in their order.
    func counter(_ metric: Metric, _ values: String...) -> Counter {
        Counter(label: metric.name, dimensions: Array(zip(metric.labels, values)), factory: self)
    }

    func gauge(_ metric: Metric) -> Meter { Meter(label: metric.name, factory: self) }

    func timer(_ metric: Metric) -> CoreMetrics.Timer { CoreMetrics.Timer(label: metric.name, factory: self) }

    /// Writes all values of a metric that there are.
    package func write(_ metric: Metric, to text: inout ExpositionText) {
        for series in series.withLockedValue({ $0[metric.name] ?? [] }) {
            series.series.write(to: &text, of: metric, labels: series.labels)
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        find(label, .counter, dimensions) { CounterSeries() } ?? NOOPMetricsHandler.instance
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(label, .gauge, dimensions) { GaugeSeries() } ?? NOOPMetricsHandler.instance
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, .histogram, dimensions) { HistogramSeries() } ?? NOOPMetricsHandler.instance
    }

    /// None of the metrics is a recorder.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    // What has been counted stays until the process ends, for a count that begins anew looks like another process.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}

    /// The same for the same labels, so that two handles count together.
    private func find<Series: MetricSeries>(
        _ name: String, _ kind: Metric.Kind, _ dimensions: [(String, String)], make: () -> Series
    ) -> Series? {
        guard let metric = metrics[name], metric.kind == kind, metric.labels == dimensions.map(\.0) else { return nil }
        let labels = dimensions.map(\.1)
        return series.withLockedValue { series in
            if let known = series[name]?.first(where: { $0.labels == labels }) { return known.series as? Series }
            let new = make()
            series[name, default: []].append(LabelledSeries(labels: labels, series: new))
            return new
        }
    }
}
