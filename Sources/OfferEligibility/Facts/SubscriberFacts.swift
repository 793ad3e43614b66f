import OfferCore

/// A set of facts, one for each key.
///
/// Merging is associative, commutative and idempotent: the result does not depend on order or repetition.
package struct SubscriberFacts: Hashable, Sendable {
    private var byKey: [SubscriberFact.Key: SubscriberFact] = [:]

    package init() {}

    package init(_ facts: [SubscriberFact]) {
        for fact in facts { merge(fact) }
    }

    /// - Returns: true if the set changed.
    @discardableResult package mutating func merge(_ fact: SubscriberFact) -> Bool {
        if let known = byKey[fact.key], !fact.replaces(known) { return false }
        byKey[fact.key] = fact
        return true
    }

    package mutating func merge(_ other: SubscriberFacts) {
        for fact in other.byKey.values { merge(fact) }
    }

    package subscript(key: SubscriberFact.Key) -> SubscriberFact? { byKey[key] }

    package var count: Int { byKey.count }

    package var isEmpty: Bool { byKey.isEmpty }
}

extension SubscriberFacts: Sequence {
    // The concrete type lets other modules iterate without dynamic dispatch.
    package func makeIterator() -> Dictionary<SubscriberFact.Key, SubscriberFact>.Values.Iterator {
        byKey.values.makeIterator()
    }
}
