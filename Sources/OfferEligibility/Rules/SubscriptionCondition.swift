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
    /// The products whose subscriptions are tested; nil for all.
    package let products: Set<ProductID>?
    package let tests: [SubscriptionTest]

    /// - Parameter groups: nil means `.offered` without products, and `.any` with products.
    package init(groups: Groups? = nil, products: Set<ProductID>? = nil, tests: [SubscriptionTest]) {
        self.groups = groups ?? (products == nil ? .offered : .any)
        self.products = products
        self.tests = tests
    }
}
