import NIOConcurrencyHelpers
import NIOCore

/// A circuit breaker that stops requests to a host after several consecutive failures. After a pause, it admits one
/// request at a time.
final class CircuitBreaker: Sendable {
    private struct State {
        var failures = 0
        var closedUntil = NIODeadline.distantPast
        var isTrying = false
    }

    private let state = NIOLockedValueBox(State())

    private static let tolerated = 5
    private static let firstPause: Int64 = 1
    private static let longestPause: Int64 = 60

    /// Returns true if a request may be sent. The caller must then report its result.
    func admits(at now: NIODeadline) -> Bool {
        state.withLockedValue { state in
            guard state.failures >= Self.tolerated else { return true }
            guard now >= state.closedUntil, !state.isTrying else { return false }
            state.isTrying = true
            return true
        }
    }

    func noteSuccess() { state.withLockedValue { $0 = State() } }

    func noteFailure(at now: NIODeadline) {
        state.withLockedValue { state in
            state.failures += 1
            state.isTrying = false
            let doublings = min(max(0, state.failures - Self.tolerated), 6)
            state.closedUntil = now + .seconds(min(Self.longestPause, Self.firstPause << doublings))
        }
    }

    /// Reports that an admitted request was not sent, so it shows nothing about the host.
    func recordEmptyResult() { state.withLockedValue { $0.isTrying = false } }
}
