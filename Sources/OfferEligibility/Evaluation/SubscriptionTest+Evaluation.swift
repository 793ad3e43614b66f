import OfferCore

extension SubscriptionTest {
    func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        // Anything except the buyer may have changed since.
        if subscription.isStale, !isLasting { return .unknown }
        switch self {
        case .status(let statuses):
            return subscription.settled ? Truth(statuses.contains(subscription.status)) : .unknown
        case .autoRenew(let isOn): return Truth(subscription.autoRenews.map { $0 == isOn })
        case .renewsTo(let renewals): return .any(renewals.lazy.map { $0.truth(of: subscription, context.products) })
        case .endedBecause(let reasons):
            guard subscription.settled else { return .unknown }
            return Truth(subscription.endedBecause.map(reasons.contains) ?? false)
        case .endedAgo(let bounds):
            guard subscription.settled else { return .unknown }
            return Truth(subscription.endedAt.map { bounds.contains(context.duration(since: $0)) } ?? false)
        case .endsIn(let bounds): return endsIn(bounds, subscription, context)
        case .renewals(let bounds):
            guard subscription.settled else { return .unknown }
            return subscription.isRunWhole
                ? Truth(bounds.contains(subscription.renewals)) : bounds.contains(atLeast: subscription.renewals)
        case .subscribedFor(let bounds):
            guard subscription.settled else { return .unknown }
            let length = subscription.length(at: context)
            return subscription.isRunWhole ? Truth(bounds.contains(length)) : bounds.contains(atLeast: length)
        case .lastPeriod(let kinds): return Truth(kinds.contains(subscription.lastPeriod))
        case .pendingOffer(let test): return pending(test, subscription)
        case .ownership(let ownerships): return Truth(subscription.ownership.map(ownerships.contains))
        case .priceIncrease(let states):
            // Only a renewal info shows whether there is a price increase.
            guard subscription.autoRenews != nil else { return .unknown }
            return Truth(subscription.priceIncrease.map(states.contains) ?? false)
        case .rank(let ranks):
            guard let rank = subscription.rank(context.products) else { return .unknown }
            return Truth(ranks.contains(rank))
        }
    }

    var isLasting: Bool { if case .ownership = self { true } else { false } }

    /// A subscription that renews does not end.
    private func endsIn(
        _ bounds: Bounds<Duration>, _ subscription: Subscription, _ context: EvaluationContext
    ) -> Truth {
        guard subscription.settled else { return .unknown }
        guard let end = subscription.end else { return .no }
        if subscription.status == .active {
            switch subscription.autoRenews {
            case nil: return .unknown
            case true?: return .no
            case false?: break
            }
        }
        return Truth(bounds.contains(.zero - context.duration(since: end)))
    }

    private func pending(_ test: PendingOffer, _ subscription: Subscription) -> Truth {
        guard let offer = subscription.knownPendingOffer else { return .unknown }
        switch test {
        case .some(let expected): return Truth((offer != .nothing) == expected)
        case .offers(let ids):
            guard case .one(let id) = offer else { return .no }
            return Truth(id.map(ids.contains) ?? false)
        }
    }
}

extension SubscriptionTest.Renewal {
    fileprivate func truth(of subscription: Subscription, _ products: ProductTraits) -> Truth {
        guard subscription.autoRenews != nil else { return .unknown }
        // Without auto-renewal, there is no next period.
        guard subscription.autoRenews == true, let next = subscription.autoRenewProductID else { return .no }
        switch self {
        case .same: return Truth(next == subscription.productID)
        case .product(let productID): return Truth(next == productID)
        case .lower, .higher:
            guard next != subscription.productID else { return .no }
            guard let (present, coming) = products.ranks(subscription.productID, next) else { return .unknown }
            return Truth(self == .lower ? coming < present : coming > present)
        }
    }
}

extension ProductTraits {
    fileprivate func ranks(_ one: ProductID, _ other: ProductID) -> (Int, Int)? {
        guard let first = ranks[one], let second = ranks[other] else { return nil }
        return (first, second)
    }
}

/// The offer of the next period as far as it is known.
enum KnownPendingOffer: Hashable {
    case nothing
    /// The offer's identifier; nil if it has none.
    case one(String?)
}

extension Subscription {
    /// - Returns: nil if it is unknown. A subscription that has ended has no next period.
    var knownPendingOffer: KnownPendingOffer? {
        guard settled, !isStale else { return nil }
        switch status {
        case .expired, .revoked: return KnownPendingOffer.nothing
        case .active, .billingGracePeriod, .billingRetry:
            guard autoRenews != nil else { return nil }
            return pendingOffer.map { .one($0.identifier) } ?? KnownPendingOffer.nothing
        }
    }

    /// The end of access; nil if it has ended, or never ends.
    var end: Timestamp? {
        switch status {
        case .active: expiresAt
        case .billingGracePeriod: gracePeriodExpiresAt
        case .billingRetry, .expired, .revoked: nil
        }
    }

    /// The length of the current run, or of the last one until it ended.
    func length(at context: EvaluationContext) -> Duration {
        let end = min(context.now, endedAt ?? context.now)
        return max(.zero, end - subscribedSince)
    }

    func rank(_ products: ProductTraits) -> SubscriptionTest.Rank? {
        guard let rank = products.ranks[productID], let highest = products.highestRank(beside: productID) else {
            return nil
        }
        return rank == highest ? .highest : .lower
    }
}
