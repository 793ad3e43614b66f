package import NIOCore
package import OfferCore

/// Time and randomness for the client. Tests provide their own.
package struct Pacing: Sendable {
    package var now: @Sendable () -> Timestamp
    package var uptime: @Sendable () -> NIODeadline
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A random number from 0 to 1.
    package var chance: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Timestamp, uptime: @escaping @Sendable () -> NIODeadline = { .now() },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.chance = chance
    }
}
