/// A `/metrics` response, parsed by our own code instead of Prometheus.
package struct Scrape: Sendable {
    /// The value of each series, by name and labels, such as `offer_signer_requests_total{route="/offer",status="200"}`.
    package let values: [String: Double]
    package let text: String

    package init(_ body: [UInt8]) {
        text = String(decoding: body, as: UTF8.self)
        values = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.reduce(into: [:]) { values, line in
            let end = line.lastIndex(of: " ") ?? line.startIndex
            values[String(line[..<end])] = Double(line[end...].dropFirst().replacing("Inf", with: "infinity"))
        }
    }

    package subscript(series: String) -> Double? { values[series] }

    /// Sums a metric over all label values.
    package func sum(of name: String) -> Double {
        values.filter { $0.key == name || $0.key.hasPrefix(name + "{") }.map(\.value).reduce(0, +)
    }

    /// The names of all metrics, from their `# TYPE` lines.
    package var names: [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
            String($0.split(separator: " ")[2])
        }
    }
}
