import OfferCore

/// `rank`: the product's rank in its group.
package struct RankTest: SubscriptionTestKind {
    package static let name = "rank"
    package static let code = ReasonCode.rank
    package static let subject = "The rank of the product"

    package enum Rank: String, CaseIterable, Hashable, Sendable { case highest, lower }

    package let ranks: Set<Rank>

    package init(_ ranks: Set<Rank>) {
        self.ranks = ranks
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.choices(Rank.self).map(Self.init)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard let rank = context.products.rank(of: subscription.productID) else { return .unknown }
        return Truth(ranks.contains(rank))
    }

    package var required: ReasonValue { .texts(ranks.map(\.rawValue)) }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        nil
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        .catalogue
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.ranks).areDisjoint() ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func rank(_ ranks: Set<RankTest.Rank>) -> SubscriptionTest { SubscriptionTest(RankTest(ranks)) }
}

extension ProductTraits {
    /// - Returns: nil if the catalogue has no rank or no group for the product.
    fileprivate func rank(of productID: ProductID) -> RankTest.Rank? {
        guard let rank = ranks[productID], let highest = highestRank(beside: productID) else { return nil }
        return rank == highest ? .highest : .lower
    }
}
