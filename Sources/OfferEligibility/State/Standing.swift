import OfferCore

/// The state of a subscription, with the values specific to that state.
enum Standing: Equatable {
    case active
    /// - Parameter until: nil if the App Store did not give an end date.
    case billingGracePeriod(until: Timestamp?)
    case billingRetry(since: Timestamp)
    case expired(at: Timestamp, because: Subscription.EndReason)
    case revoked(at: Timestamp, because: Subscription.EndReason)
    /// The period is over, and the App Store has not reported what follows.
    case unsettled
}
