package import OfferCore

/// `renewsTo`: the product for the next period.
package struct RenewsToTest: SubscriptionTestKind {
    package static let name = "renewsTo"
    package static let code = ReasonCode.renewsTo
    package static let subject = "The next period's product"

    package enum Renewal: Hashable, Sendable {
        /// The current product.
        case same
        /// A product with a lower or a higher rank in the group.
        case lower, higher
        case product(ProductID)
    }

    package let renewals: Set<Renewal>

    package init(_ renewals: Set<Renewal>) {
        self.renewals = renewals
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.set(expected: "same, lower, higher, or a product ID") { text in
            switch text {
            case "same": .same
            case "lower": .lower
            case "higher": .higher
            default: (try? ProductID(utf8: Array(text.utf8))).map { .product($0) }
            }
        }.map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        .any(renewals.lazy.map { $0.truth(of: subscription, context.products) })
    }

    package var required: ReasonValue { .texts(renewals.map(\.text)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.autoRenews == true ? subscription.autoRenewProductID.map { .text($0.text.description) } : nil
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.autoRenews == nil || subscription.autoRenewProductID == nil ? .renewalInfo : .catalogue
    }

    package static func contradiction(among tests: [Self]) -> String? {
        let isApart = tests.indices.contains { place in
            tests[..<place].contains { earlier in
                !earlier.renewals.contains { one in tests[place].renewals.contains { one.agrees(with: $0) } }
            }
        }
        return isApart ? "two of its conditions require different products for the next period" : nil
    }
}

extension SubscriptionTest {
    package static func renewsTo(_ renewals: Set<RenewsToTest.Renewal>) -> SubscriptionTest {
        SubscriptionTest(RenewsToTest(renewals))
    }
}

extension RenewsToTest.Renewal {
    fileprivate func truth(of subscription: Subscription, _ products: ProductTraits) -> Truth {
        guard subscription.autoRenews != nil else { return .unknown }
        // Without auto-renewal, there is no next period.
        guard subscription.autoRenews == true else { return .no }
        guard let next = subscription.autoRenewProductID else { return .unknown }
        switch self {
        case .same: return Truth(next == subscription.productID)
        case .product(let productID): return Truth(next == productID)
        case .lower, .higher:
            guard next != subscription.productID else { return .no }
            guard let present = products.ranks[subscription.productID], let coming = products.ranks[next] else {
                return .unknown
            }
            return Truth(self == .lower ? coming < present : coming > present)
        }
    }

    fileprivate var text: String {
        switch self {
        case .same: "same"
        case .lower: "lower"
        case .higher: "higher"
        case .product(let productID): productID.text.description
        }
    }

    /// Returns true if one product can satisfy both. `lower` and `higher` may match any product except the current one.
    fileprivate func agrees(with other: Self) -> Bool {
        switch (self, other) {
        case (.product(let one), .product(let other)): one == other
        case (.product, _), (_, .product): true
        case (.same, _), (.lower, _), (.higher, _): self == other
        }
    }
}
