import OfferCore

/// Reads the `limits` of the configuration file.
enum LimitsReader {
    private static let rates: [(name: String, limit: any WritableKeyPath<Limits, RateLimit?> & Sendable)] = [
        ("tokens", \.tokens), ("users", \.users), ("customers", \.customers), ("addresses", \.addresses),
        ("notifications", \.notifications), ("explanations", \.explanations), ("handshakes", \.handshakes),
    ]

    static func read(_ value: YAMLValue) -> Limits {
        var limits = Limits()
        let members = value.members("limits", known: rates.map(\.name) + ["connections"])
        for (name, limit) in rates { if let value = members[name] { limits[keyPath: limit] = readRate(value) } }
        if let value = members["connections"] {
            limits.connections = value.text == "off" ? nil : readCount(value)
        }
        return limits
    }

    private static func readCount(_ value: YAMLValue) -> Int? {
        value.text.flatMap { Int($0) }.flatMap { (1...1_000_000).contains($0) ? $0 : nil }
            ?? value.refuse(
                "this is not a limit", hint: "set connections to a whole number from 1 to 1000000, or off")
    }

    /// - Returns: nil for `off`, or if there is a problem.
    private static func readRate(_ value: YAMLValue) -> RateLimit? {
        if value.text == "off" { return nil }
        let members = value.members("a limit", known: ["perSecond", "burst"], required: ["perSecond", "burst"])
        guard let perSecond = members["perSecond"], let burst = members["burst"] else { return nil }
        guard let pace = perSecond.text.flatMap({ Double($0) }), let count = burst.text.flatMap({ Int($0) }),
            let limit = RateLimit(perSecond: pace, burst: count)
        else {
            return value.refuse(
                "this is not a limit",
                hint: "set perSecond from 0.001 to 1000000 and burst to a whole number up to 1000000, or write off")
        }
        return limit
    }
}
