import NIOConcurrencyHelpers

/// A budget that limits retries to a tenth of all requests, so that they do not overload a failing host.
final class RetryBudget: Sendable {
    private let tokens = NIOLockedValueBox(maximum)

    private static let maximum = 10.0
    private static let perRequest = 0.1

    func noteRequest() { tokens.withLockedValue { $0 = min(Self.maximum, $0 + Self.perRequest) } }

    /// - Returns: true if a request may be repeated.
    func take() -> Bool {
        tokens.withLockedValue { tokens in
            guard tokens >= 1 else { return false }
            tokens -= 1
            return true
        }
    }
}
