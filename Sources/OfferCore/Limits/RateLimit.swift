/// How often something may happen, as a bucket of tokens: each time takes one, and they come back at a steady pace.
package struct RateLimit: Hashable, Sendable {
    /// How many tokens come back in a second.
    package let perSecond: Double
    /// How many the bucket holds: so often it may happen at once.
    package let burst: Int

    /// - Parameters:
    ///   - perSecond: from 0.001 to 1,000,000.
    ///   - burst: from 1 to 1,000,000.
    package init?(perSecond: Double, burst: Int) {
        guard (0.001...1_000_000).contains(perSecond), (1...1_000_000).contains(burst) else { return nil }
        self.perSecond = perSecond
        self.burst = burst
    }
}
