import OfferCore

/// The delays after which missing data decides a state. Test environments run a year of renewals in hours.
struct SubscriptionTiming {
    /// The time after the end of a period until its subscription, without newer data, counts as expired.
    let unsettled: Duration
    /// The time for which the App Store retries billing after the end of a period, grace included.
    let billingRetry: Duration
    /// The delay before the App Store is queried again about a renewal that it announced but did not make.
    let recheck: Duration

    /// In the sandbox, billing retry lasts two hours at the slowest rate that a tester can choose.
    init(_ environment: AppStoreEnvironment) {
        let isProduction = environment == .production
        unsettled = isProduction ? .days(7) : .hours(1)
        billingRetry = isProduction ? .days(60) : .hours(2)
        recheck = isProduction ? .hours(1) : .seconds(60)
    }
}
