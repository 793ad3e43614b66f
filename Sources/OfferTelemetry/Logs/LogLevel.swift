package import Logging
import Synchronization

/// The minimum level of logged events, shared by the whole service and changeable at run time.
package final class LogLevel: Sendable {
    private static let all = Logger.Level.allCases

    // Every event on every core reads this, whether it is logged or not. Unlike a lock, an atomic load does not move
    // the cache line between cores.
    private let index: Atomic<Int>

    package init(_ level: Logger.Level) {
        index = Atomic(Self.index(of: level))
    }

    package var current: Logger.Level {
        get { Self.all[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { all.firstIndex(of: level) ?? 0 }
}
