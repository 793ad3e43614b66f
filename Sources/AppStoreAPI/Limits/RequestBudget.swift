import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility

/// A budget that enforces Apple's hourly limits for each app, environment and endpoint.
///
/// Each limit is a token bucket that holds five minutes of requests and refills at nine tenths of Apple's rate. The
/// requests in any hour thus stay below Apple's limit and leave some for the team's other programs.
///
/// Each process has its own buckets. A new bucket starts with only half a minute of requests. Therefore, neither a
/// process that restarts repeatedly nor a command run beside the service can use up the hourly limit.
final class RequestBudget: Sendable {
    private struct Key: Hashable {
        let app: AppScope
        let endpoint: APIEndpoint
    }

    private struct Bucket {
        var tokens: Double
        var filledAt: Int64
        /// The time, in milliseconds, before which the App Store accepts no requests.
        var closedUntil: Int64 = .min
    }

    private let buckets = NIOLockedValueBox<[Key: Bucket]>([:])
    private let scale: Double

    private static let shareOfRate = 0.9
    private static let burstSeconds = 300.0
    private static let firstSeconds = 30.0
    /// The minimum number of requests in a new bucket, if the bucket can hold that many.
    private static let fewest = 10.0

    /// - Parameter scale: a factor for Apple's limits, for tests.
    init(scale: Double = 1) {
        self.scale = scale
    }

    /// Takes one request from the budget.
    /// - Returns: nil if the request is permitted; otherwise the time of the next permitted request.
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

    /// Closes an endpoint until the time at which the App Store accepts requests again.
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

    /// Returns the permitted rate in requests per second.
    private func rate(of endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Double {
        Double(endpoint.requestsPerSecond) * (environment == .production ? 1 : 0.1) * Self.shareOfRate * scale
    }
}
