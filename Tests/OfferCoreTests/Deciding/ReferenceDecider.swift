import OfferCore

@testable import HistoryTestSupport

/// A second implementation of the rules, to check the first against: slow and obvious. A truth is a number: 1, 0, or ½ for unknown.
struct ReferenceDecider {
    let customer: CustomerFacts
    let products: ProductTraits
    let group: String
    let now: Timestamp

    func value(_ condition: Condition) -> Double {
        switch condition {
        case .all(let members): members.map(value).min() ?? 1
        case .any(let members): members.map(value).max() ?? 0
        case .not(let member): 1 - value(member)
        case .rule(_, let member): value(member)
        case .subscription(let condition): subscription(condition)
        case .test(let test): customer(test)
        }
    }

    func isEligible(_ offer: OfferTerms) -> Bool {
        guard customer.state.everSubscribed == true, value(offer.rule.condition) == 1 else { return false }
        guard let current = newest(of: group) else { return true }
        guard current.ownership == .purchased, current.settled else { return false }
        if current.status == .billingRetry, !mentionsRetry(offer.rule.condition) { return false }
        let isOver = current.status == .expired || current.status == .revoked
        if isOver { return true }
        return current.autoRenews != nil && current.pendingOffer?.type != .promotional
    }

    private func mentionsRetry(_ condition: Condition) -> Bool {
        switch condition {
        case .all(let members), .any(let members): return members.contains(where: mentionsRetry)
        case .rule(_, let member): return mentionsRetry(member)
        case .subscription(let condition):
            for case .status(let statuses) in condition.tests where statuses.contains(.billingRetry) { return true }
            return false
        case .not, .test: return false
        }
    }

    // MARK: Subscriptions

    private func newest(of group: String) -> Subscription? {
        var newest: Subscription?
        for candidate in customer.state.subscriptions where candidate.subscriptionGroupID == group {
            guard let known = newest else {
                newest = candidate
                continue
            }
            if candidate.purchasedAt > known.purchasedAt
                || candidate.purchasedAt == known.purchasedAt
                    && known.originalTransactionID.precedes(candidate.originalTransactionID)
            {
                newest = candidate
            }
        }
        return newest
    }

    private func subscription(_ condition: SubscriptionCondition) -> Double {
        let all = Set(customer.state.subscriptions.compactMap(\.subscriptionGroupID))
        let groups: Set<String> =
            switch condition.groups {
            case .offered: [group]
            case .any: all
            case .some(let ids): ids
            }
        let current = groups.compactMap(newest)
        var best = 0.0
        for subscription in current where condition.products?.contains(subscription.productID) ?? true {
            best = max(best, condition.tests.map { test($0, subscription) }.min() ?? 1)
        }
        let mayHaveMore = condition.groups == .any || current.count < groups.count
        if best < 1, mayHaveMore, customer.state.history == .partial { best = 0.5 }
        return best
    }

    private func test(_ test: SubscriptionTest, _ subscription: Subscription) -> Double {
        let isActive = subscription.status == .active || subscription.status == .billingGracePeriod
        switch test {
        case .status, .endedBecause, .endedAgo, .endsIn, .renewals, .subscribedFor:
            if !subscription.settled { return 0.5 }
        case .autoRenew, .renewsTo, .priceIncrease:
            if subscription.autoRenews == nil { return 0.5 }
        case .ownership: if subscription.ownership == nil { return 0.5 }
        case .lastPeriod, .pendingOffer, .rank: break
        }
        switch test {
        case .status(let values): return values.contains(subscription.status) ? 1 : 0
        case .autoRenew(let isOn): return subscription.autoRenews == isOn ? 1 : 0
        case .endedBecause(let values): return subscription.endedBecause.map { values.contains($0) ? 1 : 0 } ?? 0
        case .endedAgo(let bounds):
            guard let ended = subscription.endedAt else { return 0 }
            return inside(bounds, .milliseconds(now.milliseconds - ended.milliseconds))
        case .endsIn(let bounds):
            guard isActive else { return 0 }
            if subscription.status == .active {
                guard let renews = subscription.autoRenews else { return subscription.expiresAt == nil ? 0 : 0.5 }
                if renews { return 0 }
            }
            let end = subscription.status == .active ? subscription.expiresAt : subscription.gracePeriodExpiresAt
            guard let end else { return 0 }
            return inside(bounds, .milliseconds(end.milliseconds - now.milliseconds))
        case .renewals(let bounds):
            return subscription.isRunWhole
                ? inside(bounds, subscription.renewals) : beyond(bounds, subscription.renewals)
        case .subscribedFor(let bounds):
            let end = min(now.milliseconds, (subscription.endedAt ?? now).milliseconds)
            let length = Duration.milliseconds(max(0, end - subscription.subscribedSince.milliseconds))
            return subscription.isRunWhole ? inside(bounds, length) : beyond(bounds, length)
        case .lastPeriod(let values): return values.contains(subscription.lastPeriod) ? 1 : 0
        case .ownership(let values): return values.contains(subscription.ownership ?? .purchased) ? 1 : 0
        case .priceIncrease(let values): return subscription.priceIncrease.map { values.contains($0) ? 1 : 0 } ?? 0
        case .pendingOffer(let wanted):
            if !subscription.settled { return 0.5 }
            let isOver = subscription.status == .expired || subscription.status == .revoked
            if !isOver, subscription.autoRenews == nil { return 0.5 }
            let pending = isOver ? nil : subscription.pendingOffer
            switch wanted {
            case .some(let expected): return (pending != nil) == expected ? 1 : 0
            case .offers(let ids): return pending?.identifier.map { ids.contains($0) ? 1 : 0 } ?? 0
            }
        case .renewsTo(let wanted):
            return wanted.map { renewal($0, subscription) }.max() ?? 0
        case .rank(let wanted):
            guard let own = products.ranks[subscription.productID], products.groups[subscription.productID] != nil
            else { return 0.5 }
            let rivals = products.ranks.filter { products.groups[$0.key] == products.groups[subscription.productID] }
            return wanted.contains(rivals.values.allSatisfy { $0 <= own } ? .highest : .lower) ? 1 : 0
        }
    }

    private func renewal(_ wanted: SubscriptionTest.Renewal, _ subscription: Subscription) -> Double {
        guard subscription.autoRenews == true, let next = subscription.autoRenewProductID else { return 0 }
        switch wanted {
        case .same: return next == subscription.productID ? 1 : 0
        case .product(let productID): return next == productID ? 1 : 0
        case .lower, .higher:
            if next == subscription.productID { return 0 }
            guard let from = products.ranks[subscription.productID], let to = products.ranks[next] else { return 0.5 }
            return (wanted == .lower ? to < from : to > from) ? 1 : 0
        }
    }

    private func inside<Value: Comparable>(_ bounds: Bounds<Value>, _ value: Value) -> Double {
        if let least = bounds.atLeast, value < least { return 0 }
        if let most = bounds.atMost, value > most { return 0 }
        return 1
    }

    /// The value is this or more.
    private func beyond<Value: Comparable>(_ bounds: Bounds<Value>, _ value: Value) -> Double {
        if let most = bounds.atMost { return value > most ? 0 : 0.5 }
        if let least = bounds.atLeast, value < least { return 0.5 }
        return 1
    }

    // MARK: Customers

    private func customer(_ test: CustomerTest) -> Double {
        let state = customer.state
        func truth(_ known: Bool?, is expected: Bool) -> Double { known.map { $0 == expected ? 1 : 0 } ?? 0.5 }
        switch test {
        case .everSubscribed(let expected): return truth(state.everSubscribed, is: expected)
        case .usedIntroductoryOffer(let expected):
            return truth(state.usedIntroductoryOffer(inGroup: group), is: expected)
        case .refundPending(let expected): return truth(state.refundPending, is: expected)
        case .refunded(let test):
            var found: Double = state.history == .whole ? 0 : 0.5
            for refund in state.refunds {
                if let within = test.within,
                    refund.at.milliseconds + Int64(within / .milliseconds(1)) < now.milliseconds
                {
                    continue
                }
                guard let reasons = test.reasons else {
                    found = 1
                    continue
                }
                guard let reason = refund.reason else {
                    found = max(found, 0.5)
                    continue
                }
                if reasons.contains(reason) { found = 1 }
            }
            return test.expected ? found : 1 - found
        case .redeemed(let test):
            let count = state.redemptions.filter { redemption in
                if redemption.type != .promotional { return false }
                if let offers = test.offers, !offers.contains(redemption.offerID) { return false }
                guard let within = test.within else { return true }
                return redemption.at.milliseconds + Int64(within / .milliseconds(1)) >= now.milliseconds
            }.count
            return state.history == .whole ? inside(test.count, count) : beyond(test.count, count)
        case .winBackOffers(let wanted):
            guard let current = newest(of: group), current.autoRenews != nil else { return 0.5 }
            switch wanted {
            case .none: return current.winBackOffers.isEmpty ? 1 : 0
            case .any: return current.winBackOffers.isEmpty ? 0 : 1
            case .offers(let ids): return ids.isDisjoint(with: current.winBackOffers) ? 0 : 1
            }
        case .owns(let wanted): return wanted.map { truth(state.owns($0), is: true) }.max() ?? 0
        case .environment(let values): return values.contains(customer.environment) ? 1 : 0
        case .date(let range):
            if let from = range.from, now < from { return 0 }
            if let until = range.until, now >= until { return 0 }
            return 1
        case .fact(let test):
            guard case .exists(let exists) = test.requirement else { return 0.5 }
            return (customer.team[test.name] != nil) == exists ? 1 : 0
        case .originalAppVersion, .originalPurchase: return 0.5
        case .share: return state.subscriptions.isEmpty ? 0.5 : 1
        }
    }
}
