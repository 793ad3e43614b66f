/// Prometheus' text format, version 0.0.4.
package struct ExpositionText: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The HELP and TYPE lines of the current metric until its first sample. A metric without samples gets neither.
    private var head = ""

    package init() {}

    /// Begins the samples of `metric`.
    package mutating func begin(_ metric: Metric) {
        let help = metric.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        head = "# HELP \(metric.name) \(help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
    }

    /// - Parameters:
    ///   - name: the metric's name, with `_bucket`, `_sum` or `_count` appended for a histogram.
    ///   - values: the label values, in the order of `labels`. They may contain any characters.
    package mutating func sample(_ name: String, _ labels: [String], _ values: [String], _ value: Double) {
        bytes += head.utf8
        head = ""
        bytes += name.utf8
        if !labels.isEmpty {
            let pairs = zip(labels, values).map { "\($0)=\"\(Self.escaped($1))\"" }
            bytes += "{\(pairs.joined(separator: ","))}".utf8
        }
        bytes += " \(Self.number(value))\n".utf8
    }

    private static func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\n")
        }
        if isPlain { return text }
        return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// Formats a number so that Go can parse it.
    package static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return String(whole) }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value.isNaN ? "NaN" : "\(value)"
    }
}
