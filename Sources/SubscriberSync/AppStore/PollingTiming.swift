import OfferConfiguration
import OfferCore
import OfferEligibility

/// The schedule of the poller in one environment.
struct PollingTiming {
    /// The time to wait for the App Store's notification after the end of a period. Production sends most within
    /// minutes, but some up to an hour later.
    private let tolerance: Duration
    private let firstRetry: Duration
    let longestRetry: Duration
    /// The maximum number of polls per second: less than half of Apple's limit, which leaves room for refreshes.
    let rate: Int
    /// The number of consecutive requests without new data after which an invalid answer ends the polling of a
    /// subscription.
    let refusals = 8

    init(_ environment: AppStoreEnvironment) {
        let isProduction = environment == .production
        tolerance = .seconds(isProduction ? 4500 : 60)
        firstRetry = .seconds(isProduction ? 300 : 60)
        longestRetry = .seconds(isProduction ? 3600 : 900)
        rate = isProduction ? 20 : 2
    }

    /// Returns the latest due time of the subscriptions that are polled at `time`.
    func dueAt(forRequestAt time: Timestamp) -> Timestamp { time - tolerance }

    /// Returns the delay before the next request after requests that brought nothing new.
    ///
    /// An unused signature frees its slot 45 minutes after the first request, so four more requests follow within 20
    /// minutes. After those, each delay is twice as long as the previous one.
    /// - Parameter count: the number of requests that brought nothing new.
    func retry(after count: Int) -> Duration { min(longestRetry, firstRetry * (1 << min(max(0, count - 4), 10))) }
}
