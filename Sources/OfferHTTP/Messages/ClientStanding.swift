import Synchronization

/// The highest authentication level that the client of a connection has reached on it.
///
/// Under load, strangers are served last. When memory or connections are short, lower levels give way first.
package final class ClientStanding: Sendable {
    package enum Level: UInt8, Comparable, Sendable {
        /// No request of the client has been admitted.
        case stranger
        /// A user's token has been admitted. Every customer of an app can have one.
        case user
        /// A caller's token has been admitted, or the service has no callers.
        case caller

        package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    private let value = Atomic(Level.stranger.rawValue)

    package init() {}

    package var level: Level { Level(rawValue: value.load(ordering: .relaxed)) ?? .stranger }

    package var isAuthenticated: Bool { level > .stranger }

    /// Notes that a request of the client was admitted.
    package func note(_ admitted: Level) {
        // Every request calls this. Without the check, each would write to memory shared with other cores.
        if level < admitted { value.store(admitted.rawValue, ordering: .relaxed) }
    }
}
