import OfferCore
import Yams

/// Reads the `limits` of the configuration file.
enum LimitsReader {
    static func read(_ node: YAMLNode, _ reader: inout YAMLReader) -> Limits {
        var limits = Limits()
        let members = reader.members(
            of: node, "limits",
            known: [
                "tokens", "users", "customers", "addresses", "notifications", "explanations", "connections",
                "handshakes",
            ])
        if let node = members["tokens"] { limits.tokens = readLimit(node, &reader) }
        if let node = members["users"] { limits.users = readLimit(node, &reader) }
        if let node = members["customers"] { limits.customers = readLimit(node, &reader) }
        if let node = members["addresses"] { limits.addresses = readLimit(node, &reader) }
        if let node = members["notifications"] { limits.notifications = readLimit(node, &reader) }
        if let node = members["explanations"] { limits.explanations = readLimit(node, &reader) }
        if let node = members["connections"] { limits.connections = readCount("connections", node, &reader) }
        if let node = members["handshakes"] { limits.handshakes = readLimit(node, &reader) }
        return limits
    }

    /// - Parameter name: the member that the problem names.
    /// - Returns: nil for `off`, or if there is a problem.
    private static func readCount(_ name: String, _ node: YAMLNode, _ reader: inout YAMLReader) -> Int? {
        if node.scalar?.string == "off" { return nil }
        guard let count = node.scalar.flatMap({ Int($0.string) }), (1...1_000_000).contains(count) else {
            return reader.refuse(
                "this is not a limit", at: node, hint: "set \(name) to a whole number from 1 to 1000000, or off")
        }
        return count
    }

    /// - Returns: nil for `off`, or if there is a problem.
    private static func readLimit(_ node: YAMLNode, _ reader: inout YAMLReader) -> RateLimit? {
        if node.scalar?.string == "off" { return nil }
        let members = reader.members(
            of: node, "a limit", known: ["perSecond", "burst"], required: ["perSecond", "burst"])
        guard let perSecond = members["perSecond"], let burst = members["burst"] else { return nil }
        guard let pace = perSecond.scalar.flatMap({ Double($0.string) }),
            let count = burst.scalar.flatMap({ Int($0.string) }),
            let limit = RateLimit(perSecond: pace, burst: count)
        else {
            return reader.refuse(
                "this is not a limit", at: node,
                hint: "set perSecond from 0.001 to 1000000 and burst to a whole number up to 1000000, or write off")
        }
        return limit
    }
}
