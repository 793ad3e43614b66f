import Synchronization

/// A limit on the requests that an endpoint of the asynchronous lane runs or keeps waiting.
final class LaneLimit: Sendable {
    private let count = Atomic(0)
    private let maximum: Int

    init(_ maximum: Int) {
        self.maximum = maximum
    }

    /// Takes a place.
    /// - Returns: false if all are taken.
    func enter() -> Bool {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > maximum else { return true }
        leave()
        return false
    }

    /// Frees the place taken by ``enter()``.
    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
