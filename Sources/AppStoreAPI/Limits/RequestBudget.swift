import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility

/// Apple's limits of requests per hour, for each app, environment and endpoint.
///
/// Each limit is a token bucket that holds the requests of five minutes and is filled at nine tenths of Apple's rate.
/// The requests of any hour thus stay below Apple's limit, and leave some for other programs of the team.
///
/// Each process has its own buckets. A new bucket begins with the requests of only half a minute. Neither a process
/// that restarts repeatedly nor a command next to the service can therefore use up the hour.
final class RequestBudget: Sendable {
    private struct Key: Hashable {
        let app: AppScope
        let endpoint: APIEndpoint
    }

    private struct Bucket {
        var tokens: Double
        var filledAt: Int64
        /// The time, in milliseconds, before which the App Store accepts no request.
        var closedUntil: Int64 = .min
    }

    private let buckets = NIOLockedValueBox<[Key: Bucket]>([:])
    private let scale: Double

    private static let shareOfRate = 0.9
    private static let burstSeconds = 300.0
    private static let firstSeconds = 30.0
    /// The minimum number of requests in a new bucket, if it can hold as many.
    private static let fewest = 10.0

    /// - Parameter scale: a factor for Apple's limits, for tests.
    init(scale: Double = 1) {
        self.scale = scale
    }

    /// Takes one request from the budget.
    /// - Returns: nil if the request is permitted; otherwise the time of the next one.
    func take(_ endpoint: APIEndpoint, of app: AppScope, at now: Timestamp) -> Timestamp? {
        let rate = rate(of: endpoint, in: app.environment)
        return buckets.withLockedValue { buckets in
            let key = Key(app: app, endpoint: endpoint)
            var bucket = buckets[key] ?? Bucket(tokens: first(rate), filledAt: now.milliseconds)
            defer { buckets[key] = bucket }
            let passed = Double(max(0, now.milliseconds - bucket.filledAt)) / 1000
            bucket.tokens = min(rate * Self.burstSeconds, bucket.tokens + passed * rate)
            bucket.filledAt = max(bucket.filledAt, now.milliseconds)
            guard bucket.closedUntil <= now.milliseconds else {
                return Timestamp(milliseconds: bucket.closedUntil)
            }
            guard bucket.tokens >= 1 else {
                return Timestamp(milliseconds: now.milliseconds + Int64((1 - bucket.tokens) / rate * 1000) + 1)
            }
            bucket.tokens -= 1
            return nil
        }
    }

    /// Closes an endpoint until the App Store accepts requests again.
    func close(_ endpoint: APIEndpoint, of app: AppScope, until time: Timestamp, at now: Timestamp) {
        buckets.withLockedValue { buckets in
            buckets[Key(app: app, endpoint: endpoint), default: Bucket(tokens: 0, filledAt: now.milliseconds)]
                .closedUntil = time.milliseconds
        }
    }

    /// Returns the number of requests in a new bucket.
    private func first(_ rate: Double) -> Double {
        min(rate * Self.burstSeconds, max(rate * Self.firstSeconds, Self.fewest))
    }

    /// In requests per second.
    private func rate(of endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Double {
        Double(endpoint.requestsPerSecond) * (environment == .production ? 1 : 0.1) * Self.shareOfRate * scale
    }
}
