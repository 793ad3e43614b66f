import OfferConfiguration
import OfferCore
import OfferEligibility

/// When the poller asks, in one environment.
struct PollingTiming {
    /// How long after an end the App Store's notification is awaited. Production sends most within minutes, but up to an hour
    /// later.
    private let tolerance: Duration
    private let firstRetry: Duration
    let longestRetry: Duration
    /// The questions in a second: less than half of Apple's limit, so that requests can ask too.
    let rate: Int
    /// A subscription is not asked about any more when its answer was refused as often in a row.
    let refusals = 8

    init(_ environment: AppStoreEnvironment) {
        let isProduction = environment == .production
        tolerance = .seconds(isProduction ? 4500 : 60)
        firstRetry = .seconds(isProduction ? 300 : 60)
        longestRetry = .seconds(isProduction ? 3600 : 900)
        rate = isProduction ? 20 : 2
    }

    /// The time at which something must have been due to be asked about at another.
    func dueAt(forQuestionAt time: Timestamp) -> Timestamp { time - tolerance }

    /// How long after a question in vain the next one comes.
    ///
    /// An unused signature gives its slot back 45 minutes after the first question, so four more come within 20 minutes. Only
    /// then does each wait take twice as long.
    /// - Parameter count: the number of questions in vain.
    func retry(after count: Int) -> Duration { min(longestRetry, firstRetry * (1 << min(max(0, count - 4), 10))) }
}
