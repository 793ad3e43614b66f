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

        /// Returns the time when the bucket will be full again; `now` if it is full.
        func full(_ hash: Int, now: NIODeadline) -> NIODeadline { max(recent[hash] ?? older[hash] ?? now, now) }
    }

    /// The times that a limit implies.
    private struct Times {
        /// The time until one token is refilled.
        let interval: TimeAmount
        /// The time until an empty bucket is full.
        let whole: TimeAmount

        init(_ limit: RateLimit) {
            interval = .nanoseconds(Int64(1e9 / limit.perSecond))
            whole = interval * limit.burst
        }

        /// - Parameter full: the time when the bucket will be full again, once the wanted tokens are taken.
        /// - Returns: nil if the bucket holds these tokens; otherwise the time until it does.
        func wait(full: NIODeadline, now: NIODeadline) -> TimeAmount? {
            // A bucket can be overdrawn, after the limit is lowered or by charge(), so the wait is capped.
            full - now <= whole ? nil : min(full - now - whole, whole)
        }
    }

    private let buckets = NIOLockedValueBox(Buckets())
    private let maximumCount: Int

    /// - Parameter maximumCount: the maximum number of keys. The limiter remembers at least the latest half of them.
    package init(maximumCount: Int = 100_000) {
        self.maximumCount = maximumCount
    }

    /// - Returns: nil if the bucket of `key` holds a token; otherwise the time until it does.
    package func wait(for key: Key, limit: RateLimit, now: NIODeadline) -> TimeAmount? {
        let (times, hash) = (Times(limit), key.hashValue)
        let before = buckets.withLockedValue { $0.full(hash, now: now) }
        return times.wait(full: before + times.interval, now: now)
    }

    /// Takes `count` tokens from the bucket of `key`, or none if there are fewer.
    /// - Parameter taken: the number of these tokens that an earlier call has taken. If there are too few tokens, they
    ///   are put back. Otherwise, a client that keeps requesting too many would never let its bucket fill up.
    /// - Returns: nil if there were enough tokens; otherwise the time until there are. If `count` exceeds the burst,
    ///   there never will be.
    package func take(
        _ key: Key, count: Int = 1, alreadyTaken taken: Int = 0, limit: RateLimit, now: NIODeadline
    ) -> TimeAmount? {
        let (times, hash) = (Times(limit), key.hashValue)
        return buckets.withLockedValue { buckets in
            let before = buckets.full(hash, now: now)
            let full = before + times.interval * (count - taken)
            let wait = times.wait(full: full, now: now)
            if wait == nil {
                set(full, hash, &buckets)
            } else if taken > 0 {
                set(before - times.interval * taken, hash, &buckets)
            }
            return wait
        }
    }

    /// Takes `count` tokens from the bucket of `key` if it holds at least one. This reserves the maximum cost of work
    /// before its actual cost is known. An overdrawn bucket holds no token until it has refilled.
    /// - Returns: nil if the bucket held a token; otherwise the time until it does.
    package func reserve(_ key: Key, count: Int, limit: RateLimit, now: NIODeadline) -> TimeAmount? {
        let (times, hash) = (Times(limit), key.hashValue)
        return buckets.withLockedValue { buckets in
            let before = buckets.full(hash, now: now)
            let wait = times.wait(full: before + times.interval, now: now)
            if wait == nil { set(before + times.interval * count, hash, &buckets) }
            return wait
        }
    }

    /// Takes `count` tokens from the bucket of `key` even if there are fewer.
    /// - Parameter count: the number of tokens. A negative number returns tokens that ``reserve(_:count:limit:now:)``
    ///   took but the work did not cost.
    package func charge(_ key: Key, count: Int, limit: RateLimit, now: NIODeadline) {
        let (times, hash) = (Times(limit), key.hashValue)
        buckets.withLockedValue { buckets in
            set(buckets.full(hash, now: now) + times.interval * count, hash, &buckets)
        }
    }

    private func set(_ full: NIODeadline, _ hash: Int, _ buckets: inout Buckets) {
        buckets.recent[hash] = full
        if buckets.recent.count > maximumCount / 2 {
            swap(&buckets.recent, &buckets.older)
            buckets.recent.removeAll(keepingCapacity: true)
        }
    }
}
