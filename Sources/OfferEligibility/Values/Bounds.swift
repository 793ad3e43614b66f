import OfferCore

/// A range of values that includes both ends. At least one end is given.
package struct Bounds<Value: Comparable & Hashable & Sendable>: Hashable, Sendable {
    package let atLeast: Value?
    package let atMost: Value?

    package init(atLeast: Value? = nil, atMost: Value? = nil) {
        self.atLeast = atLeast
        self.atMost = atMost
    }

    /// True if no value is within the bounds.
    package var isEmpty: Bool {
        guard let atLeast, let atMost else { return false }
        return atLeast > atMost
    }

    package func contains(_ value: Value) -> Bool {
        atLeast.map { value >= $0 } ?? true && atMost.map { value <= $0 } ?? true
    }

    /// Tests a value that is `known` or greater.
    func contains(atLeast known: Value) -> Truth {
        if let atMost, known > atMost { return .no }
        return atMost == nil && atLeast.map { known >= $0 } ?? true ? .yes : .unknown
    }
}
