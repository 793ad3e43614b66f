package import Logging
import Synchronization

/// The level from which on events are logged: one for all of the service, and it may change while that runs.
package final class LogLevel: Sendable {
    private static let all = Logger.Level.allCases

    // Asked for each event on every core, whether it is logged or not: unlike a lock, what is only read is not passed around.
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
