/// What is known of one customer in one app and environment when a decision is made.
package struct CustomerFacts: Sendable {
    package let state: SubscriberState
    package let environment: AppStoreEnvironment
    /// What the team has supplied, by name.
    package let team: [String: TeamFactValue]
    /// The version of the app that the customer bought or downloaded first; nil if unknown, as always in the sandbox.
    package let originalAppVersion: AppVersion?
    package let originalPurchase: Timestamp?

    package init(
        state: SubscriberState, environment: AppStoreEnvironment, team: [String: TeamFactValue] = [:],
        originalAppVersion: AppVersion? = nil, originalPurchase: Timestamp? = nil
    ) {
        self.state = state
        self.environment = environment
        self.team = team
        self.originalAppVersion = environment == .production ? originalAppVersion : nil
        self.originalPurchase = originalPurchase
    }
}

extension SubscriberState {
    /// The customer's current subscription in a group: the one whose period began last, whatever its `originalTransactionId`.
    /// Those before it are history.
    func current(inGroup groupID: String) -> Subscription? {
        subscriptions.filter { $0.subscriptionGroupID == groupID }.max { $0.precedes($1) }
    }

    /// The current subscription of each group. One without a known group stands for itself.
    var current: [Subscription] {
        subscriptions.filter { candidate in
            guard let groupID = candidate.subscriptionGroupID else { return true }
            return current(inGroup: groupID) == candidate
        }
    }
}

extension Subscription {
    fileprivate func precedes(_ other: Subscription) -> Bool {
        guard purchasedAt == other.purchasedAt else { return purchasedAt < other.purchasedAt }
        return originalTransactionID.precedes(other.originalTransactionID)
    }

    /// Whether the customer has access now.
    var hasAccess: Bool { status == .active || status == .billingGracePeriod }
}
