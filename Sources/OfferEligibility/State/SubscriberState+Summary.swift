extension SubscriberState {
    /// The customer's state in a word that an app may show to the customer. The raw values are wire values.
    package enum Summary: String, CaseIterable, Hashable, Sendable {
        case active
        /// A payment failed, and the customer can fix it.
        case paymentFailed = "payment_failed"
        /// All subscriptions have ended.
        case ended
    }

    /// A failed payment comes first, because the customer must act; then access.
    /// - Returns: nil if nothing certain is known.
    package var summary: Summary? {
        let isFailed = subscriptions.contains { subscription in
            (subscription.status == .billingGracePeriod || subscription.status == .billingRetry && subscription.settled)
                && (subscription.ownership ?? .purchased) == .purchased
        }
        if isFailed { return .paymentFailed }
        if subscriptions.contains(where: \.hasAccess) { return .active }
        return !subscriptions.isEmpty && subscriptions.allSatisfy(\.hasEnded) ? .ended : nil
    }
}
