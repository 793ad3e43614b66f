import NIOConcurrencyHelpers
package import NIOCore
package import OfferCore

/// A bucket of tokens for each key, on the monotonic clock.
///
/// Of each bucket only one number is kept, when it will be full again (the generic cell rate algorithm, ITU-T I.371): one
/// that is full is as one that was never seen. Memory is bounded by forgetting the keys that have not been seen for the
/// longest, by halves.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Buckets {
        /// When each is full again.
        var recent: [Key: NIODeadline] = [:]
        var older: [Key: NIODeadline] = [:]
    }

    private let buckets = NIOLockedValueBox(Buckets())
    private let maximumCount: Int

    /// - Parameter maximumCount: how many keys are kept at least half of, and never more.
    package init(maximumCount: Int = 100_000) {
        self.maximumCount = maximumCount
    }

    /// Takes a token.
    /// - Returns: nil if there was one; else how long it takes until there is.
    package func take(_ key: Key, limit: RateLimit, now: NIODeadline) -> TimeAmount? {
        let interval = TimeAmount.nanoseconds(Int64(1e9 / limit.perSecond))
        let whole = interval * limit.burst
        var forgotten: [Key: NIODeadline] = [:]
        let wait = buckets.withLockedValue { buckets -> TimeAmount? in
            let full = max(buckets.recent[key] ?? buckets.older[key] ?? now, now) + interval
            // A limit that has become smaller may have left a bucket emptier than empty.
            guard full - now <= whole else { return min(full - now - whole, whole) }
            buckets.recent[key] = full
            if buckets.recent.count > maximumCount / 2 {
                forgotten = buckets.older
                buckets.older = buckets.recent
                buckets.recent = [:]
            }
            return nil
        }
        // What is forgotten is given out of the lock, so that nobody waits until it is freed.
        forgotten.removeAll()
        return wait
    }
}
