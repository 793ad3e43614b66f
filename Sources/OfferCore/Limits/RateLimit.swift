/// A token-bucket rate limit: each event takes a token, and tokens are refilled at a steady rate.
package struct RateLimit: Hashable, Sendable {
    /// The number of tokens refilled per second.
    package let perSecond: Double
    /// The capacity of the bucket: the largest number of events in one burst.
    package let burst: Int

    /// - Parameters:
    ///   - perSecond: from 0.001 to 1,000,000.
    ///   - burst: from 1 to 1,000,000.
    /// - Returns: nil if a value is out of range.
    package init?(perSecond: Double, burst: Int) {
        guard (0.001...1_000_000).contains(perSecond), (1...1_000_000).contains(burst) else { return nil }
        self.perSecond = perSecond
        self.burst = burst
    }
}
