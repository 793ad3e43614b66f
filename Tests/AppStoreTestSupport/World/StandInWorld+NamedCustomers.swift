/// Customers with a name, who do only what a demonstration tells them.
extension StandInWorld {
    package struct NoSubscription: Error {}

    /// The transaction and app transaction that name a customer to the App Store.
    package struct NamedCustomer: Sendable {
        package let originalTransactionID: String
        package let transactionIDs: [String]
        package let productID: String
        package let appTransactionID: String
        /// The account that the app sets on purchases; nil for none.
        package let account: String?
        /// Apple's `status` of the subscription.
        package let status: Int
    }

    /// Subscribes a customer, who is new if no one has the name yet.
    package func subscribe(_ name: String, account: String?, to product: String, at now: Int64) -> Notification {
        changeCustomer(named: name, account: account) { $0.subscribe(to: product, at: now) }
    }

    /// - Throws: ``NoSubscription`` if the customer never subscribed.
    package func setAutoRenew(_ isOn: Bool, of name: String, at now: Int64) throws -> Notification {
        _ = try customer(named: name, at: now)
        return changeCustomer(named: name, account: nil) { $0.setAutoRenew(isOn, at: now) }
    }

    /// - Throws: ``NoSubscription`` if the customer never subscribed.
    package func redeem(_ offerID: String, of product: String, by name: String, at now: Int64) throws -> Notification {
        _ = try customer(named: name, at: now)
        return changeCustomer(named: name, account: nil) { $0.redeem(offerID, of: product, at: now) }
    }

    /// - Throws: ``NoSubscription`` if the customer never subscribed.
    package func customer(named name: String, at now: Int64) throws -> NamedCustomer {
        guard let customer = knownCustomer(named: name), let subscription = customer.subscriptions.first,
            !subscription.transactions.isEmpty
        else { throw NoSubscription() }
        return NamedCustomer(
            originalTransactionID: subscription.originalID, transactionIDs: subscription.all.map(\.id),
            productID: subscription.last.productID,
            appTransactionID: customer.appTransactionID, account: customer.account,
            status: subscription.status(at: now))
    }
}
