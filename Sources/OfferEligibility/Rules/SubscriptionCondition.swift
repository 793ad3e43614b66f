package import OfferCore

/// A condition on one subscription: it holds if one of the tested subscriptions passes all tests.
package struct SubscriptionCondition: Hashable, Sendable {
    /// The subscription groups that are tested. In each group, only the customer's current subscription counts.
    package enum Groups: Hashable, Sendable {
        /// The group of the product that is offered.
        case offered
        case any
        case some(Set<String>)
    }

    package let groups: Groups
    /// Only subscriptions to these products are tested; nil for all.
    package let products: Set<ProductID>?
    package let tests: [SubscriptionTest]

    /// - Parameter groups: nil for the default: those that contain the products, or the offered one if no products are given.
    package init(groups: Groups? = nil, products: Set<ProductID>? = nil, tests: [SubscriptionTest]) {
        self.groups = groups ?? (products == nil ? .offered : .any)
        self.products = products
        self.tests = tests
    }
}

/// One thing that a rule requires of a subscription.
package enum SubscriptionTest: Hashable, Sendable {
    case status(Set<Subscription.Status>)
    case autoRenew(Bool)
    case renewsTo(Set<Renewal>)
    case endedBecause(Set<Subscription.EndReason>)
    case endedAgo(Bounds<Duration>)
    case endsIn(Bounds<Duration>)
    case renewals(Bounds<Int>)
    case subscribedFor(Bounds<Duration>)
    case lastPeriod(Set<Subscription.PeriodKind>)
    case pendingOffer(PendingOffer)
    case ownership(Set<Subscription.Ownership>)
    case priceIncrease(Set<Subscription.PriceIncrease>)
    case rank(Set<Rank>)

    /// The product of the next period.
    package enum Renewal: Hashable, Sendable {
        /// The present product.
        case same
        /// A product of a lower or a higher rank in the group.
        case lower, higher
        case product(ProductID)
    }

    /// The required offer of the next period: any or none, or one of a set.
    package enum PendingOffer: Hashable, Sendable {
        case some(Bool)
        case offers(Set<String>)
    }

    /// The place of the product in its group.
    package enum Rank: String, CaseIterable, Hashable, Sendable { case highest, lower }
}
