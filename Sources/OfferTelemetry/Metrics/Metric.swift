/// A metric's name, kind, labels and help text.
package struct Metric: Hashable, Sendable {
    /// The metric type in Prometheus' terms.
    package enum Kind: String, Sendable {
        case counter
        case gauge
        /// Durations in seconds, counted in buckets with fixed bounds.
        case histogram
    }

    package let name: String
    package let kind: Kind
    /// The names of the metric's labels. Label values come from a closed set or from the operator's configuration, so
    /// no client can create a series.
    package let labels: [String]
    /// A sentence that describes the metric. `docs/metrics.md` repeats it word for word.
    package let help: String

    package init(_ name: String, _ kind: Kind, _ labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}
