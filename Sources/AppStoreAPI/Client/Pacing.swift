package import NIOCore
package import OfferCore

/// The clocks, the sleep function and the random numbers of a client. Tests provide their own.
package struct Pacing: Sendable {
    package var now: @Sendable () -> Timestamp
    package var uptime: @Sendable () -> NIODeadline
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number from 0 to 1.
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

extension Pacing {
    private static let firstDelay = Duration.milliseconds(250)
    private static let attemptTimeout = Duration.seconds(30)

    /// Returns the time limit of one attempt; nil if the deadline has passed.
    /// - Parameter deadline: the end of all attempts; nil for none.
    func timeout(until deadline: NIODeadline?) -> Duration? {
        guard let deadline else { return Self.attemptTimeout }
        let rest = Duration(deadline - uptime())
        return rest > .zero ? min(rest, Self.attemptTimeout) : nil
    }

    /// Waits before the next attempt. The delay doubles each time and is multiplied by a random factor from 0.5 to 1.5.
    /// - Parameters:
    ///   - number: the number of attempts so far.
    ///   - isPermitted: called before the wait, if the wait can end before the deadline.
    /// - Returns: false if the attempt must not be repeated.
    package func waits(
        beforeRetry number: Int, by deadline: NIODeadline?, if isPermitted: () -> Bool = { true }
    ) async -> Bool {
        let delay = Self.firstDelay * (1 << (number - 1)) * (0.5 + chance())
        if let deadline, uptime() + TimeAmount(delay) >= deadline { return false }
        guard isPermitted() else { return false }
        return (try? await sleep(delay)) != nil
    }
}
