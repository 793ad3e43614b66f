import OfferCore

extension Rule {
    /// The rule in words, for people, such as `The subscription's status is active; auto-renew is false`.
    package var text: String { condition.text }
}

extension Condition {
    fileprivate var text: String {
        switch self {
        case .all(let members): members.map(\.part).joined(separator: "; ")
        case .any(let members): members.map(\.part).joined(separator: "; or ")
        case .not(let condition): "not: \(condition.part)"
        case .rule(_, let condition): condition.text
        case .subscription(let condition): condition.text
        case .test(let test): Self.text(type(of: test.kind).subject, test.kind.fact, test.kind.required)
        }
    }

    /// The condition as a part of another.
    private var part: String {
        switch self {
        case .any(let members) where members.count > 1: "(\(text))"
        case .all(let members) where members.count > 1: "(\(text))"
        default: text
        }
    }

    fileprivate static func text(_ subject: String, _ fact: String, _ required: ReasonValue) -> String {
        "\(subject) is \(required.sentencePart)"
    }
}

extension SubscriptionCondition {
    fileprivate var text: String {
        var parts = tests.map { Condition.text(type(of: $0.kind).subject, $0.kind.fact, $0.kind.required) }
        if let products {
            parts.insert(
                "a subscription to \(products.map(\.text.description).sorted().joined(separator: " or "))", at: 0)
        }
        if case .some(let ids) = groups {
            parts.insert("in the group \(ids.sorted().joined(separator: " or "))", at: 0)
        }
        return parts.isEmpty ? "the customer has a subscription" : parts.joined(separator: "; ")
    }
}

extension OfferLimits {
    /// The limits in words, without ``total``.
    package var texts: [String] {
        var texts: [String] = []
        if let perCustomer {
            let times = perCustomer.count == 1 ? "once" : "\(perCustomer.count) times"
            texts.append("\(times) for each customer" + (perCustomer.every.map { " in \($0.configurationText)" } ?? ""))
        }
        if let cooldown { texts.append("\(cooldown.configurationText) after any other offer") }
        texts.append(outstanding == 1 ? "one unused signature at a time" : "\(outstanding) unused signatures at a time")
        return texts
    }
}
