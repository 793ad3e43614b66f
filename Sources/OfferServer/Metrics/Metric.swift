/// What is known of a metric before anything is counted: how it is called, and what that means.
package struct Metric: Hashable, Sendable {
    /// What Prometheus calls its type.
    package enum Kind: String, Sendable {
        /// Only ever grows, from 0 at the start of the process.
        case counter
        case gauge
        /// How many durations there were, in seconds, up to each of fixed bounds.
        case histogram
    }

    package let name: String
    package let kind: Kind
    /// The names of its labels. The values of each come from a closed set, or from the operator's own setup: nobody who asks
    /// for something makes a series.
    package let labels: [String]
    /// A sentence for a person. `docs/metrics.md` has it word for word.
    package let help: String

    init(_ name: String, _ kind: Kind, _ labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}
