package import OfferCore

/// `bought`: whether the customer bought one of the listed non-consumables or non-renewing subscriptions, and when.
package struct BoughtTest: CustomerTestKind {
    package static let name = "bought"
    package static let code = ReasonCode.bought
    package static let subject = "The purchase of the product"

    package let productIDs: Set<ProductID>
    /// The maximum age of the purchase; nil for no limit.
    package let within: Duration?

    package init(_ productIDs: Set<ProductID>, within: Duration? = nil) {
        self.productIDs = productIDs
        self.within = within
    }

    package static func read(_ value: some RuleValue) -> Self? {
        let members = value.members(name, known: ["product", "within"])
        guard let product = members["product"] else {
            if value.memberCount != nil {
                value.report("bought needs a product", hint: "such as {product: season_pass, within: 365d}")
            }
            return nil
        }
        let within = members["within"].read { $0.duration() }
        guard let productIDs = product.productIDs(), !within.isUnreadable else { return nil }
        return Self(productIDs, within: within.value)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        let found = purchases(in: context)
        if found.contains(where: { $0.isOwn == true }) { return .yes }
        return found.isEmpty && context.facts.state.history.isOfApp ? .no : .unknown
    }

    package var required: ReasonValue {
        let products = ReasonValue.Member("product", .texts(productIDs.map(\.text.description)))
        return .members([products] + [within.map { .init("within", .duration($0)) }].compactMap(\.self))
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        purchases(in: context).last.map { .time($0.at) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        purchases(in: context).isEmpty ? context.facts.state.historySource : .transaction
    }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool { !wanted }

    private func purchases(in context: EvaluationContext) -> [OneTimePurchase] {
        context.facts.state.purchases.filter { purchase in
            productIDs.contains(purchase.productID) && context.isWithin(within, purchase.at)
        }
    }
}

extension CustomerTest {
    package static func bought(_ test: BoughtTest) -> CustomerTest { CustomerTest(test) }
}
