import Synchronization

/// A limit on the number of requests that an asynchronous endpoint runs or keeps waiting.
package final class LaneLimit: Sendable {
    private let count = Atomic(0)
    private let maximum: Int

    package init(_ maximum: Int) {
        self.maximum = maximum
    }

    /// Takes a slot.
    /// - Returns: false if no slot is free.
    package func enter() -> Bool {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > maximum else { return true }
        leave()
        return false
    }

    /// Frees the slot taken by ``enter()``.
    package func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
