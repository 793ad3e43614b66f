import NIOConcurrencyHelpers
package import NIOCore
package import OfferCore

/// A token bucket for each key, on the monotonic clock.
///
/// A bucket is stored as one number: when it will be full again (the generic cell rate algorithm, ITU-T I.371). A full
/// bucket equals one that was never seen. Keys are stored as 64-bit hashes with a seed that is new each time the
/// service starts. No one can therefore make two keys share a bucket, and 100,000 keys do not collide by chance. Memory
/// is bounded by two generations of keys. When the recent one has half of the maximum number, it replaces the older
/// one, whose keys are forgotten unless they were seen again.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Buckets {
        /// When each bucket is full again.
        var recent: [Int: NIODeadline] = [:]
        var older: [Int: NIODeadline] = [:]
    }

    private let buckets = NIOLockedValueBox(Buckets())
    private let maximumCount: Int

    /// - Parameter maximumCount: the maximum number of keys; at least half as many are remembered.
    package init(maximumCount: Int = 100_000) {
        self.maximumCount = maximumCount
    }

    /// Takes a token from the bucket of `key`.
    /// - Returns: nil if there was one; otherwise how long until there is one.
    package func take(_ key: Key, limit: RateLimit, now: NIODeadline) -> TimeAmount? {
        let interval = TimeAmount.nanoseconds(Int64(1e9 / limit.perSecond))
        let whole = interval * limit.burst
        let hash = key.hashValue
        return buckets.withLockedValue { buckets in
            let full = max(buckets.recent[hash] ?? buckets.older[hash] ?? now, now) + interval
            // Lowering the limit can leave a bucket below empty.
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
