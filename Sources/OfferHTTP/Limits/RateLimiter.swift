import NIOConcurrencyHelpers
package import NIOCore
package import OfferCore

/// A rate limiter with one token bucket per key, on the monotonic clock.
///
/// A bucket is stored as a single number: the time when it will be full again (the generic cell rate algorithm, ITU-T
/// I.371). A full bucket is equivalent to one never seen. Keys are stored as 64-bit hashes with a seed that changes at
/// every start. Clients therefore cannot force two keys into one bucket, and 100,000 keys are unlikely to collide. Two
/// generations of keys bound the memory. When the recent generation exceeds half of the maximum, it replaces the older
/// one. Keys found only in the older one are forgotten.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Buckets {
        /// The time when each bucket will be full again, by hash of its key.
        var recent: [Int: NIODeadline] = [:]
        var older: [Int: NIODeadline] = [:]
    }

    private let buckets = NIOLockedValueBox(Buckets())
    private let maximumCount: Int

    /// - Parameter maximumCount: the maximum number of keys. The limiter remembers at least the latest half of them.
    package init(maximumCount: Int = 100_000) {
        self.maximumCount = maximumCount
    }

    /// - Returns: nil if the bucket of `key` holds a token; otherwise how long until it does.
    package func wait(for key: Key, limit: RateLimit, now: NIODeadline) -> TimeAmount? {
        let interval = TimeAmount.nanoseconds(Int64(1e9 / limit.perSecond))
        let whole = interval * limit.burst
        let hash = key.hashValue
        let full = buckets.withLockedValue { max($0.recent[hash] ?? $0.older[hash] ?? now, now) } + interval
        return full - now <= whole ? nil : min(full - now - whole, whole)
    }

    /// Takes a token from the bucket of `key`.
    /// - Returns: nil if there was a token; otherwise the time until there is one.
    package func take(_ key: Key, limit: RateLimit, now: NIODeadline) -> TimeAmount? {
        let interval = TimeAmount.nanoseconds(Int64(1e9 / limit.perSecond))
        let whole = interval * limit.burst
        let hash = key.hashValue
        return buckets.withLockedValue { buckets in
            let full = max(buckets.recent[hash] ?? buckets.older[hash] ?? now, now) + interval
            // After the limit is lowered, a bucket can be overdrawn, so the wait is capped.
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
