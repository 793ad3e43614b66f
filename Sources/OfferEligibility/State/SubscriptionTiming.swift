import OfferCore

/// The delays after which a state is assumed without newer data. Test environments have much shorter periods.
struct SubscriptionTiming {
    /// The time from the end of a period until its subscription counts as expired if no newer data arrives.
    let unsettled: Duration
    /// The duration of billing retry after the end of a period, including the grace period.
    let billingRetry: Duration
    /// The minimum delay before the App Store is queried again about an active subscription whose period is over.
    let recheck: Duration
    /// The gap after which the paid time in a group counts from zero again.
    let paidTimeGap: Duration

    /// In the sandbox, billing retry lasts two hours at the slowest renewal rate.
    init(_ environment: AppStoreEnvironment) {
        let isProduction = environment == .production
        unsettled = isProduction ? .days(7) : .hours(1)
        billingRetry = isProduction ? .days(60) : .hours(2)
        recheck = isProduction ? .hours(1) : .seconds(60)
        paidTimeGap = isProduction ? .days(60) : .seconds(600)
    }
}
