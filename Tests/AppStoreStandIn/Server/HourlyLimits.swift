import NIOConcurrencyHelpers

/// Apple's limits: for each endpoint, so many requests in each hour of the stand-in's clock.
///
/// Source: Apple, "Identifying rate limits" (App Store Server API documentation).
final class HourlyLimits: Sendable {
    private struct Hour {
        let number: Int64
        var requests = 0
    }

    private let hours = NIOLockedValueBox<[String: Hour]>([:])
    private let isSandbox: Bool

    private static let perSecond = [
        "app_account_token": 20, "test_notification": 1, "test_notification_status": 1, "upload_message": 1,
        "delete_message": 1, "message_list": 1, "upload_image": 1, "delete_image": 1, "image_list": 1,
        "set_default_message": 10, "default_message": 1, "delete_default_message": 1, "set_realtime_url": 1,
        "realtime_url": 1, "delete_realtime_url": 1, "start_performance_test": 1, "performance_test_result": 1,
    ]

    init(isSandbox: Bool) {
        self.isSandbox = isSandbox
    }

    /// Counts a request.
    /// - Returns: nil if it is within the limit, otherwise when the next hour begins, in milliseconds.
    func exceeded(by endpoint: String, at now: Int64) -> Int64? {
        guard endpoint != "verify_receipt" else { return nil }
        let number = now / 3_600_000
        let limit = Self.perSecond[endpoint, default: 50] * 3600 / (isSandbox ? 10 : 1)
        return hours.withLockedValue { hours in
            var hour = hours[endpoint].flatMap { $0.number == number ? $0 : nil } ?? Hour(number: number)
            hour.requests += 1
            hours[endpoint] = hour
            return hour.requests > limit ? (number + 1) * 3_600_000 : nil
        }
    }
}
