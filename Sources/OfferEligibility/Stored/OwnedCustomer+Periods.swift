extension OwnedCustomer {
    /// Returns the known periods of the customer's subscriptions, by subscription, the oldest first.
    package func periods(in app: Catalogue.App) -> [SubscriptionPeriod] {
        let transactions = KnownTransaction.all(in: facts)
        return SubscriptionPeriods.all(of: transactions, groups: app.groups, familySharable: app.familySharable)
            .flatMap { subscription in
                subscription.periods.map { SubscriptionPeriod($0, isAnothers: subscription.isAnothers) }
            }
    }
}
