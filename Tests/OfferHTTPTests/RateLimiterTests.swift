import NIOCore
import OfferCore
import OfferHTTP
import TestSupport
import Testing

@Suite("Rate limits")
struct RateLimiterTests {
    private static func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000_000) + .milliseconds(milliseconds)
    }

    @Test("a bucket allows a burst, then one request per interval, and returns the time to wait")
    func bucket() throws {
        let limits = RateLimiter<String>()
        let limit = try #require(RateLimit(perSecond: 2, burst: 3))
        for _ in 0..<3 { #expect(limits.take("a", limit: limit, now: Self.time(0)) == nil) }
        #expect(limits.take("a", limit: limit, now: Self.time(0)) == .milliseconds(500))
        #expect(limits.take("a", limit: limit, now: Self.time(400)) == .milliseconds(100))
        #expect(limits.take("b", limit: limit, now: Self.time(400)) == nil, "each key has its own bucket")
        #expect(limits.take("a", limit: limit, now: Self.time(500)) == nil)
        #expect(limits.take("a", limit: limit, now: Self.time(500)) == .milliseconds(500))
        for _ in 0..<3 { #expect(limits.take("a", limit: limit, now: Self.time(10_000)) == nil) }
        #expect(limits.take("a", limit: limit, now: Self.time(10_000)) != nil)
        // Refusals cost nothing, and the bucket refills only as time passes.
        for _ in 0..<100 { #expect(limits.take("a", limit: limit, now: Self.time(10_000)) == .milliseconds(500)) }
    }

    @Test(
        "no sequence of requests exceeds the limit in any interval",
        arguments: 0..<20 as Range<UInt64>)
    func neverMore(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let limit = try #require(
            RateLimit(
                perSecond: Double.random(in: 0.1...20, using: &random), burst: .random(in: 1...10, using: &random)))
        let limits = RateLimiter<Int>()
        var given: [Int64] = []
        var now: Int64 = 0
        for _ in 0..<2000 {
            now += .random(in: 0...400, using: &random)
            if limits.take(0, limit: limit, now: Self.time(now)) == nil { given.append(now) }
        }
        #expect(given.count > limit.burst)
        for first in given.indices {
            for last in first..<min(first + 50, given.count) {
                let allowed = Double(limit.burst) + Double(given[last] - given[first]) / 1000 * limit.perSecond
                #expect(Double(last - first + 1) <= allowed + 0.001)
            }
        }
    }

    @Test("several tokens are taken together or not at all, and what an earlier call took is put back")
    func several() throws {
        let limits = RateLimiter<Int>()
        let limit = try #require(RateLimit(perSecond: 1, burst: 5))
        func take(_ count: Int, taken: Int = 0, at seconds: Int64 = 0) -> TimeAmount? {
            limits.take(0, count: count, alreadyTaken: taken, limit: limit, now: Self.time(seconds * 1000))
        }
        #expect(take(3) == nil)
        #expect(take(3) == .seconds(1))
        #expect(take(2) == nil, "the refusal cost nothing")
        #expect(take(1) == .seconds(1))
        // One token is taken with a request, which then turns out to need three.
        #expect(take(1, at: 2) == nil)
        #expect(take(3, taken: 1, at: 2) == .seconds(1))
        #expect(take(2, at: 2) == nil, "both tokens are there again")
        #expect(take(1, at: 100) == nil)
        #expect(take(5, taken: 1, at: 100) == nil, "the earlier token counts")
        #expect(take(1, at: 100) == .seconds(1))
        #expect(take(6, at: 200) == .seconds(1), "there are never as many")
        #expect(take(5, at: 200) == nil)
    }

    @Test("a charge is taken even from an empty bucket, which must refill before it holds a token again")
    func debt() throws {
        let limits = RateLimiter<Int>()
        let limit = try #require(RateLimit(perSecond: 1, burst: 10))
        func wait(at seconds: Int64) -> TimeAmount? {
            limits.wait(for: 0, limit: limit, now: Self.time(seconds * 1000))
        }
        #expect(wait(at: 0) == nil)
        limits.charge(0, count: 9, limit: limit, now: Self.time(0))
        #expect(wait(at: 0) == nil, "one token is left")
        limits.charge(0, count: 4, limit: limit, now: Self.time(0))
        #expect(wait(at: 0) == .seconds(4))
        #expect(limits.take(0, limit: limit, now: Self.time(0)) == .seconds(4))
        #expect(wait(at: 3) == .seconds(1) && wait(at: 4) == nil)
        limits.charge(1, count: 1000, limit: limit, now: Self.time(0))
        #expect(wait(at: 4) == nil, "each key has its own bucket")
    }

    @Test("a reservation needs one token, takes the maximum, and gives back what the work did not cost")
    func reservation() throws {
        let limit = try #require(RateLimit(perSecond: 1, burst: 10))
        let limits = RateLimiter<Int>()
        func reserve(at seconds: Int64) -> TimeAmount? {
            limits.reserve(0, count: 30, limit: limit, now: Self.time(seconds * 1000))
        }
        #expect(reserve(at: 0) == nil)
        #expect(reserve(at: 0) != nil && reserve(at: 5) != nil)
        // The work cost eight, so two are left, and five have been refilled since.
        limits.charge(0, count: -22, limit: limit, now: Self.time(5000))
        #expect(limits.take(0, count: 7, limit: limit, now: Self.time(5000)) == nil)
        #expect(reserve(at: 5) == .seconds(1))
        // A full bucket stays full.
        limits.charge(0, count: -30, limit: limit, now: Self.time(100_000))
        #expect(limits.take(0, count: 11, limit: limit, now: Self.time(100_000)) != nil)
        #expect(limits.take(0, count: 10, limit: limit, now: Self.time(100_000)) == nil)
    }

    @Test("a lowered limit applies immediately, and no wait exceeds the time to refill the bucket")
    func smaller() throws {
        let limits = RateLimiter<Int>()
        let large = try #require(RateLimit(perSecond: 0.01, burst: 1000))
        for _ in 0..<1000 { #expect(limits.take(0, limit: large, now: Self.time(0)) == nil) }
        let small = try #require(RateLimit(perSecond: 1, burst: 2))
        #expect(limits.take(0, limit: small, now: Self.time(0)) == .seconds(2))
    }

    @Test("the limiter remembers the most recent of 100,000 keys and forgets the oldest")
    func bounded() throws {
        let limits = RateLimiter<Int>(maximumCount: 1000)
        let limit = try #require(RateLimit(perSecond: 0.001, burst: 1))
        for key in 0..<100_000 { #expect(limits.take(key, limit: limit, now: Self.time(0)) == nil) }
        #expect((99_500..<100_000).allSatisfy { limits.take($0, limit: limit, now: Self.time(0)) != nil })
        #expect(limits.take(0, limit: limit, now: Self.time(0)) == nil)
    }

    @Test(
        "a limit outside the allowed range is refused",
        arguments: [(0, 1), (-1, 1), (.nan, 1), (.infinity, 1), (1e7, 1), (1, 0), (1, 2_000_000)])
    func ranges(perSecond: Double, burst: Int) {
        #expect(RateLimit(perSecond: perSecond, burst: burst) == nil)
    }
}
