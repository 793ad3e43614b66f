import OfferCore

extension CatalogueCheck {
    /// Checks the products that retention messages name. The App Store shows another product only to subscribers of its
    /// group.
    func retentionFindings() -> [CatalogueFinding] {
        app.rules.retention.enumerated().flatMap { place, item -> [CatalogueFinding] in
            switch item.content {
            case .message: []
            case .alternateProduct(let productID, _):
                check(productID, nil, of: item, place + 1, "the alternate product")
            case .promotionalOffer(let offer):
                check(offer.productID, offer.offerID, of: item, place + 1, "the product of the retention offer")
            }
        }
    }

    private func check(
        _ productID: ProductID, _ offerID: OfferID?, of item: RetentionCase, _ number: Int, _ name: String
    ) -> [CatalogueFinding] {
        guard let product = listing.product(productID) else {
            // A product that the file lists has a finding of its own.
            guard listing.isComplete, app.offers[productID] == nil else { return [] }
            return [
                finding(
                    .unknownRetentionProduct, productID, offer: offerID,
                    "App Store Connect has no such subscription, but retention case \(number) names it",
                    hint: "copy the product ID from App Store Connect")
            ]
        }
        let groups = subscriberGroups(item.rule ?? offerID.flatMap { app.rules.terms(of: productID, $0)?.rule })
        let neighbours = listing.products.filter { $0.groupID == product.groupID && $0.productID != productID }
        let isAlone = offerID == nil && listing.isComplete && neighbours.isEmpty
        guard isAlone || !groups.isEmpty && !groups.contains(product.groupID) else { return [] }
        return [
            finding(
                .retentionOutsideGroup, productID, offer: offerID,
                isAlone
                    ? "\(name) of case \(number) is the only product of its group, so it is never an alternative"
                    : "\(name) of case \(number) is in the group \(product.groupID.printable), but the case is for subscribers of "
                        + groups.sorted().map(\.printable).joined(separator: ", "),
                hint: "name a product of the group that the customer subscribes in")
        ]
    }

    /// Returns the groups in App Store Connect of the subscribers that a case is for; empty if its rule names none.
    /// - Parameter rule: the rule of the case, or else of its offer; nil if there is none.
    private func subscriberGroups(_ rule: Rule?) -> Set<String> {
        guard let condition = rule?.condition else { return [] }
        return condition.requiredSubscriptions.reduce(into: Set<String>()) { groups, subscription in
            if case .some(let ids) = subscription.groups { groups.formUnion(ids) }
            groups.formUnion((subscription.products ?? []).compactMap { listing.product($0)?.groupID })
        }
    }
}

extension Condition {
    /// The conditions on subscriptions that must hold: those on the top level, and within `all`.
    fileprivate var requiredSubscriptions: [SubscriptionCondition] {
        switch self {
        case .subscription(let condition): [condition]
        case .all(let members): members.flatMap(\.requiredSubscriptions)
        case .rule(_, let condition): condition.requiredSubscriptions
        default: []
        }
    }
}
