package import OfferCore

/// A question about the stored customers of an app: whom to write to.
package enum Worklist: Hashable, Sendable {
    /// Those who may have an offer now.
    /// - `includesHeldOut`: true to list also those whom only their place in a sample keeps from it.
    case offer(OfferTerms, includesHeldOut: Bool)
    case state(State)

    /// A state in which a customer can act. The raw values are wire values.
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// The renewal failed, and the customer has no access while the App Store tries again.
        case billingRetry = "billing_retry"
        /// The subscription renews at a higher price to which the customer has not agreed yet.
        case priceIncrease = "price_increase"
    }
}

extension Worklist {
    /// nil for lists that are not about an offer.
    package var offer: OfferTerms? {
        switch self {
        case .offer(let terms, _): terms
        case .state: nil
        }
    }
}

/// A customer of a ``Worklist``.
package struct WorklistCustomer: Hashable, Sendable {
    /// The subscription that the list is about; for an offer, the customer's first one.
    package let originalTransactionID: TransactionID
    package let appAccountToken: UUIDText?
    package let applicationUsername: FieldText?
    package let appTransactionID: TransactionID?
    /// The product of the subscription.
    package let productID: ProductID
    package let status: Subscription.Status
    /// The time at which the subscription ended or, if it has not ended, the end of its period.
    package let endsAt: Timestamp?
    /// The storefront of the last purchase; nil if it is unknown.
    package let storefront: String?
    /// True if only the customer's place in a sample keeps the customer from the offer.
    package let isHeldOut: Bool
}

/// A customer whom the facts put on a ``Worklist``. The limits of the offer are not checked yet.
package struct WorklistCandidate: Sendable {
    package let customer: WorklistCustomer
    /// The offer, with the grant that it is decided by; nil for lists that are not about an offer.
    package let offer: OfferTerms?
    /// The identifiers that hold reservations for the customer.
    package let holders: [CustomerIdentifier]
}

extension Worklist {
    /// Decides whether the customer of a subscription is on the list, as a decision about the stored customer does.
    /// - Returns: nil if the customer is not on the list, or if an earlier subscription represents the customer.
    package func candidate(
        _ numbered: NumberedCustomer, in app: Catalogue.App, at now: Timestamp
    ) -> WorklistCandidate? {
        guard let owned = OwnedCustomer(numbered.customer, known: numbered.identifier, by: app.ownership),
            owned.firstSubscription == numbered.originalTransactionID, owned.isComplete
        else { return nil }
        let facts = CustomerFacts(owned, in: app, at: now).granting(owned.grants)
        let subscriptions = facts.state.subscriptions
        func candidate(
            _ subscription: Subscription?, offer: OfferTerms? = nil, isHeldOut: Bool = false
        ) -> WorklistCandidate? {
            subscription.map { subscription in
                WorklistCandidate(
                    customer: WorklistCustomer(
                        owned, subscription, storefront: facts.state.storefront, isHeldOut: isHeldOut),
                    offer: offer, holders: owned.holders)
            }
        }
        switch self {
        case .offer(let terms, let includesHeldOut):
            let decision = app.rules.decide(facts, about: terms, at: now)
            guard decision.isEligible || includesHeldOut && decision.isHeldOut else { return nil }
            let first = subscriptions.first { $0.originalTransactionID == numbered.originalTransactionID }
            return candidate(
                first ?? subscriptions.first, offer: decision.offer, isHeldOut: !decision.isEligible)
        case .state(.billingRetry):
            return candidate(subscriptions.first { $0.settled && $0.status == .billingRetry && $0.isBought })
        case .state(.priceIncrease):
            return candidate(
                subscriptions.first { subscription in
                    subscription.priceIncrease == .pending && subscription.isBought && subscription.settled
                        && subscription.hasAccess && subscription.autoRenews != false
                })
        }
    }
}

extension WorklistCustomer {
    fileprivate init(
        _ customer: OwnedCustomer, _ subscription: Subscription, storefront: String?, isHeldOut: Bool
    ) {
        self.init(
            originalTransactionID: subscription.originalTransactionID, appAccountToken: customer.appAccountToken,
            applicationUsername: customer.applicationUsername, appTransactionID: customer.appTransactionID,
            productID: subscription.productID, status: subscription.status,
            endsAt: subscription.endedAt ?? subscription.expiresAt, storefront: storefront, isHeldOut: isHeldOut)
    }
}

extension Subscription {
    /// False for a family member and for the user of a seat, who pay nothing.
    fileprivate var isBought: Bool { ownership == nil || ownership == .purchased }
}
