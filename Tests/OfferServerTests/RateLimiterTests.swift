import NIOCore
import OfferCore
import OfferServer
import TestSupport
import Testing

@Suite("Rate limits")
struct RateLimiterTests {
    private static func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000_000) + .milliseconds(milliseconds)
    }

    @Test("a bucket gives as many as it holds at once, then one an interval, and says how long to wait")
    func bucket() throws {
        let limiter = RateLimiter<String>()
        let limit = try #require(RateLimit(perSecond: 2, burst: 3))
        for _ in 0..<3 { #expect(limiter.take("a", limit: limit, now: Self.time(0)) == nil) }
        #expect(limiter.take("a", limit: limit, now: Self.time(0)) == .milliseconds(500))
        #expect(limiter.take("a", limit: limit, now: Self.time(400)) == .milliseconds(100))
        #expect(limiter.take("b", limit: limit, now: Self.time(400)) == nil, "each key has a bucket of its own")
        #expect(limiter.take("a", limit: limit, now: Self.time(500)) == nil)
        #expect(limiter.take("a", limit: limit, now: Self.time(500)) == .milliseconds(500))
        for _ in 0..<3 { #expect(limiter.take("a", limit: limit, now: Self.time(10_000)) == nil) }
        #expect(limiter.take("a", limit: limit, now: Self.time(10_000)) != nil)
        // Refusals take nothing, and a clock that were to stand still gives nothing.
        for _ in 0..<100 { #expect(limiter.take("a", limit: limit, now: Self.time(10_000)) == .milliseconds(500)) }
    }

    @Test(
        "in any history no more is given than the limit allows in any stretch of time",
        arguments: 0..<20 as Range<UInt64>)
    func neverMore(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let limit = try #require(
            RateLimit(
                perSecond: Double.random(in: 0.1...20, using: &random), burst: .random(in: 1...10, using: &random)))
        let limiter = RateLimiter<Int>()
        var given: [Int64] = []
        var now: Int64 = 0
        for _ in 0..<2000 {
            now += .random(in: 0...400, using: &random)
            if limiter.take(0, limit: limit, now: Self.time(now)) == nil { given.append(now) }
        }
        #expect(given.count > limit.burst)
        for first in given.indices {
            for last in first..<min(first + 50, given.count) {
                let allowed = Double(limit.burst) + Double(given[last] - given[first]) / 1000 * limit.perSecond
                #expect(Double(last - first + 1) <= allowed + 0.001)
            }
        }
    }

    @Test("a smaller limit counts at once, and nobody waits longer than for a whole bucket")
    func smaller() throws {
        let limiter = RateLimiter<Int>()
        let large = try #require(RateLimit(perSecond: 0.01, burst: 1000))
        for _ in 0..<1000 { #expect(limiter.take(0, limit: large, now: Self.time(0)) == nil) }
        let small = try #require(RateLimit(perSecond: 1, burst: 2))
        #expect(limiter.take(0, limit: small, now: Self.time(0)) == .seconds(2))
    }

    @Test("of 100,000 keys the last ones are remembered")
    func bounded() throws {
        let limiter = RateLimiter<Int>(maximumCount: 1000)
        let limit = try #require(RateLimit(perSecond: 0.001, burst: 1))
        for key in 0..<100_000 { #expect(limiter.take(key, limit: limit, now: Self.time(0)) == nil) }
        #expect((99_500..<100_000).allSatisfy { limiter.take($0, limit: limit, now: Self.time(0)) != nil })
        #expect(limiter.take(0, limit: limit, now: Self.time(0)) == nil)
    }

    @Test(
        "a limit is in range",
        arguments: [(0, 1), (-1, 1), (.nan, 1), (.infinity, 1), (1e7, 1), (1, 0), (1, 2_000_000)])
    func ranges(perSecond: Double, burst: Int) {
        #expect(RateLimit(perSecond: perSecond, burst: burst) == nil)
    }
}
