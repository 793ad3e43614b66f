import NIOConcurrencyHelpers
package import NIOCore
package import OfferCore

/// A bucket of tokens for each key, on the monotonic clock.
///
/// Of each bucket only one number is kept, when it will be full again (the generic cell rate algorithm, ITU-T I.371): one
/// that is full is as one that was never seen. Of each key only its hash is, of 64 bits under a seed that differs at every
/// start, so nobody can make two that share a bucket, and among 100,000 none do by chance. Memory is bounded by forgetting
/// the keys that have not been seen for the longest, by halves.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Buckets {
        /// When each is full again.
        var recent: [Int: NIODeadline] = [:]
        var older: [Int: NIODeadline] = [:]
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
        let hash = key.hashValue
        return buckets.withLockedValue { buckets in
            let full = max(buckets.recent[hash] ?? buckets.older[hash] ?? now, now) + interval
            // A limit that has become smaller may have left a bucket emptier than empty.
            guard full - now <= whole else { return min(full - now - whole, whole) }
            buckets.recent[hash] = full
            if buckets.recent.count > maximumCount / 2 {
                swap(&buckets.recent, &buckets.older)
                buckets.recent.removeAll(keepingCapacity: true)
            }
            return nil
        }
    }
}
