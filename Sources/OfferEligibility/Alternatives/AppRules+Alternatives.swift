package import OfferCore

extension AppRules {
    /// Returns the content for a customer who gets no offer: that of the first case that holds. A product
    /// to which the customer already has access is passed over.
    ///
    /// The rule of a product is decided as for an offer of it. Other rules are decided for the product of the customer's
    /// current subscription, or else for the first product with a rule.
    /// - Returns: nil if no case holds, or if the app is to show nothing.
    package func alternative(for facts: CustomerFacts, at now: Timestamp) -> Alternative.Content? {
        let current = facts.state.main?.productID ?? offers.first?.productID
        for alternative in instead {
            var product = current
            if case .product(let productID) = alternative.content {
                guard !facts.state.hasAccess(to: productID) else { continue }
                product = productID
            }
            if let rule = alternative.rule {
                guard let product else { continue }
                let context = context(facts, offering: product, at: now)
                guard rule.condition.truth(in: context) == .yes else { continue }
            }
            return alternative.content == .nothing ? nil : alternative.content
        }
        return nil
    }
}

extension SubscriberState {
    fileprivate func hasAccess(to productID: ProductID) -> Bool {
        subscriptions.contains { $0.hasAccess && $0.productID == productID }
    }
}
