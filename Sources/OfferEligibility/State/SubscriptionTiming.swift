import OfferCore

/// The waiting times that turn silence into a state. Test environments run a year of renewals in hours.
struct SubscriptionTiming {
    /// How long a period may be over before its silent subscription counts as expired.
    let unsettled: Duration
    /// How long the App Store retries billing after the end of a period, grace included.
    let billingRetry: Duration
    /// How soon the App Store is asked again about a renewal that it has announced and not made.
    let recheck: Duration

    /// In the sandbox, billing is retried for two hours at the slowest of the rates that a tester can choose.
    init(_ environment: AppStoreEnvironment) {
        let isProduction = environment == .production
        unsettled = isProduction ? .days(7) : .hours(1)
        billingRetry = isProduction ? .days(60) : .hours(2)
        recheck = isProduction ? .hours(1) : .seconds(60)
    }
}
