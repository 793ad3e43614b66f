package import FoundationEssentials
import NIOConcurrencyHelpers

/// A value derived from the current time, computed at most once a second.
package final class CachedPerSecond<Value: Sendable>: Sendable {
    private let make: @Sendable (Date) -> Value
    private let last = NIOLockedValueBox<(second: Int, value: Value)?>(nil)

    package init(_ make: @escaping @Sendable (Date) -> Value) {
        self.make = make
    }

    package var now: Value {
        let date = Date()
        let second = Int(date.timeIntervalSince1970.rounded(.down))
        return last.withLockedValue { last in
            if let last, last.second == second { return last.value }
            let value = make(date)
            last = (second, value)
            return value
        }
    }
}
