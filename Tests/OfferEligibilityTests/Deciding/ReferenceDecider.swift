import OfferCore
import OfferEligibility

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
        for subscription in customer.state.subscriptions where subscription.subscriptionGroupID == group {
            let isOver = subscription.status == .expired || subscription.status == .revoked
            if subscription.settled, isOver, subscription != newest(of: group) { continue }
            guard subscription.ownership == .purchased, subscription.settled else { return false }
            if subscription.status == .billingRetry, !mentionsRetry(offer.rule.condition, subscription) {
                return false
            }
            if isOver { continue }
            guard subscription.autoRenews != nil, subscription.pendingOffer?.type != .promotional else { return false }
        }
        return true
    }

    private func mentionsRetry(_ condition: Condition, _ subscription: Subscription) -> Bool {
        switch condition {
        case .all(let members), .any(let members):
            return members.contains { mentionsRetry($0, subscription) }
        case .rule(_, let member): return mentionsRetry(member, subscription)
        case .subscription(let condition):
            if let products = condition.products, !products.contains(subscription.productID) { return false }
            if case .some(let ids) = condition.groups, !ids.contains(group) { return false }
            return condition.tests.contains { ($0.kind as? StatusTest)?.statuses.contains(.billingRetry) == true }
        case .not, .test: return false
        }
    }

    // MARK: Subscriptions

    /// The one with access, else the one that began last.
    private func newest(of group: String) -> Subscription? {
        let all = customer.state.subscriptions.filter { $0.subscriptionGroupID == group }
        let open = all.filter { $0.status == .active || $0.status == .billingGracePeriod }
        var newest: Subscription?
        for candidate in open.isEmpty ? all : open {
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
        var mayHaveMore = condition.groups == .any || current.count < groups.count
        if condition.groups == .any, let wanted = condition.products {
            // All of them are in the catalogue of the samples.
            mayHaveMore = wanted.contains { newest(of: products.groups[$0] ?? "") == nil }
        }
        if best < 1, mayHaveMore, !customer.state.history.isOfApp { best = 0.5 }
        return best
    }

    private func test(_ test: SubscriptionTest, _ subscription: Subscription) -> Double {
        let isActive = subscription.status == .active || subscription.status == .billingGracePeriod
        switch test.kind {
        case is StatusTest, is EndedBecauseTest, is EndedAgoTest, is EndsInTest, is RenewalsTest, is SubscribedForTest,
            is PaidForTest:
            if !subscription.settled { return 0.5 }
        case is AutoRenewTest, is RenewsToTest, is PriceIncreaseTest:
            if subscription.autoRenews == nil { return 0.5 }
        case is OwnershipTest: if subscription.ownership == nil { return 0.5 }
        default: break
        }
        switch test.kind {
        case let found as StatusTest:
            let values = found.statuses
            return values.contains(subscription.status) ? 1 : 0
        case let found as AutoRenewTest:
            let isOn = found.isOn
            return subscription.autoRenews == isOn ? 1 : 0
        case let found as EndedBecauseTest:
            let values = found.reasons
            return subscription.endedBecause.map { values.contains($0) ? 1 : 0 } ?? 0
        case let found as EndedAgoTest:
            let bounds = found.bounds
            guard let ended = subscription.endedAt else { return 0 }
            return inside(bounds, .milliseconds(now.milliseconds - ended.milliseconds))
        case let found as EndsInTest:
            let bounds = found.bounds
            guard isActive else { return 0 }
            if subscription.status == .active {
                guard let renews = subscription.autoRenews else { return subscription.expiresAt == nil ? 0 : 0.5 }
                if renews { return 0 }
            }
            if let commitment = subscription.commitment, commitment.expiresDate == nil { return 0.5 }
            let billed = subscription.commitment?.expiresDate ?? subscription.expiresAt
            let end = subscription.status == .active ? billed : subscription.gracePeriodExpiresAt
            guard let end else { return 0 }
            return inside(bounds, .milliseconds(end.milliseconds - now.milliseconds))
        case let found as RenewalsTest:
            let bounds = found.bounds
            return subscription.isRunWhole
                ? inside(bounds, subscription.renewals) : beyond(bounds, subscription.renewals)
        case let found as SubscribedForTest:
            let bounds = found.bounds
            let end = min(now.milliseconds, (subscription.endedAt ?? now).milliseconds)
            let length = Duration.milliseconds(max(0, end - subscription.subscribedSince.milliseconds))
            return subscription.isRunWhole ? inside(bounds, length) : beyond(bounds, length)
        case let found as PaidForTest:
            let paid = subscription.paidFor
            return subscription.isPaidTimeWhole ? inside(found.bounds, paid) : beyond(found.bounds, paid)
        case let found as LastPeriodTest:
            let values = found.kinds
            return values.contains(subscription.lastPeriod) ? 1 : 0
        case let found as OwnershipTest:
            let values = found.ownerships
            return values.contains(subscription.ownership ?? .purchased) ? 1 : 0
        case let found as PriceIncreaseTest:
            let values = found.states
            return subscription.priceIncrease.map { values.contains($0) ? 1 : 0 } ?? 0
        case let found as PendingOfferTest:
            let wanted = found.offer
            if !subscription.settled { return 0.5 }
            let isOver = subscription.status == .expired || subscription.status == .revoked
            if !isOver, subscription.autoRenews == nil { return 0.5 }
            let pending = isOver ? nil : subscription.pendingOffer
            switch wanted {
            case .some(let expected): return (pending != nil) == expected ? 1 : 0
            case .offers(let ids): return pending?.identifier.map { ids.contains($0) ? 1 : 0 } ?? 0
            }
        case let found as RenewsToTest:
            let wanted = found.renewals
            return wanted.map { renewal($0, subscription) }.max() ?? 0
        case let found as RankTest:
            let wanted = found.ranks
            guard let own = products.ranks[subscription.productID], products.groups[subscription.productID] != nil
            else { return 0.5 }
            let rivals = products.ranks.filter { products.groups[$0.key] == products.groups[subscription.productID] }
            return wanted.contains(rivals.values.allSatisfy { $0 <= own } ? .highest : .lower) ? 1 : 0
        case let found as BillingPlanTest:
            guard let plan = subscription.billingPlan else { return 0.5 }
            return found.plans.contains(plan) ? 1 : 0
        case let found as CommitmentEndsInTest:
            return commitment(of: subscription, subscription.commitment?.expiresDate?.milliseconds) { end in
                inside(found.bounds, .milliseconds(end - now.milliseconds))
            }
        case let found as CommitmentPeriodTest:
            return commitment(of: subscription, subscription.commitment?.billingPeriodNumber) { number in
                (found.bounds.atLeast ?? .min)...(found.bounds.atMost ?? .max) ~= Int(number) ? 1 : 0
            }
        case let found as AutoRenewChangedTest:
            guard let isOn = subscription.autoRenews else { return 0.5 }
            if isOn != found.isOn { return 0 }
            let start = subscription.isRunWhole ? subscription.subscribedSince : Timestamp(milliseconds: .min)
            let last = subscription.autoRenewChange.flatMap { $0.at < start ? nil : $0 }
            if last?.isOn == !isOn { return 0.5 }
            if let last, now - last.at <= found.within { return last.isCertain ? 1 : 0.5 }
            guard let since = subscription.changesKnownSince, since <= now - found.within else { return 0.5 }
            if last != nil { return 0 }
            let isWhole = since <= start
            if isOn { return isWhole ? 0 : 0.5 }
            return isWhole || subscription.isCommitted ? 0.5 : 0
        case let found as BillingErrorsTest:
            let count = subscription.billingErrors.count { error in found.within.map { now - error <= $0 } ?? true }
            let least = [found.within.map { now - $0 }, subscription.firstPurchasedAt].compactMap { $0 }.max()
            if let since = subscription.changesKnownSince, let least, since <= least {
                return inside(found.count, count)
            }
            if let most = found.count.atMost { return count > most ? 0 : 0.5 }
            return count >= found.count.atLeast ?? 0 ? 1 : 0.5
        default: preconditionFailure("the reference does not know \(test)")
        }
    }

    private func commitment(of subscription: Subscription, _ value: Int64?, _ test: (Int64) -> Double) -> Double {
        let isOver = [.expired, .revoked].contains(subscription.status)
        if isOver { return subscription.settled ? 0 : 0.5 }
        if let value { return test(value) }
        if subscription.commitment != nil { return 0.5 }
        return [nil, .monthly].contains(subscription.billingPlan) ? 0.5 : 0
    }

    private func renewal(_ wanted: RenewsToTest.Renewal, _ subscription: Subscription) -> Double {
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
        switch test.kind {
        case let found as EverSubscribedTest:
            let expected = found.expected
            return truth(state.everSubscribed, is: expected)
        case let found as UsedIntroductoryOfferTest:
            let expected = found.expected
            return truth(state.usedIntroductoryOffer(inGroup: group), is: expected)
        case let found as RefundPendingTest:
            let expected = found.expected
            return truth(state.hasRefundRequest, is: expected)
        case let test as RefundTest:
            var found: Double = state.history.isOfApp ? 0 : 0.5
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
        case let test as RedemptionTest:
            let count = state.redemptions.filter { redemption in
                if redemption.type != .promotional { return false }
                if let offers = test.offers, !offers.contains(redemption.offerID) { return false }
                guard let within = test.within else { return true }
                return redemption.at.milliseconds + Int64(within / .milliseconds(1)) >= now.milliseconds
            }.count
            return knowsRedemptions(of: test.offers) ? inside(test.count, count) : beyond(test.count, count)
        case let wanted as WinBackTest:
            guard let current = newest(of: group), current.autoRenews != nil else { return 0.5 }
            let absent = current.areWinBackOffersKnown ? 0 : 0.5
            switch wanted {
            case .none: return current.winBackOffers.isEmpty ? 1 - absent : 0
            case .any: return current.winBackOffers.isEmpty ? absent : 1
            case .offers(let ids): return ids.isDisjoint(with: current.winBackOffers) ? absent : 1
            }
        case let found as OwnsTest:
            let wanted = found.productIDs
            return wanted.map { truth(state.owns($0), is: true) }.max() ?? 0
        case let found as BoughtTest:
            let bought = state.purchases.filter { purchase in
                guard found.productIDs.contains(purchase.productID) else { return false }
                guard let within = found.within else { return true }
                return now.milliseconds - purchase.at.milliseconds <= Int64(within / .milliseconds(1))
            }
            if bought.contains(where: { $0.isOwn == true }) { return 1 }
            return bought.isEmpty && state.history.isOfApp ? 0 : 0.5
        case let found as StorefrontTest:
            guard let storefront = state.storefront else { return 0.5 }
            return found.storefronts.contains(storefront) ? 1 : 0
        case let found as EnvironmentTest:
            let values = found.environments
            return values.contains(customer.environment) ? 1 : 0
        case let found as DateTest:
            let range = found.range
            if let from = range.from, now < from { return 0 }
            if let until = range.until, now >= until { return 0 }
            return 1
        case let test as TeamFactTest: return fact(test)
        case let found as OriginalAppVersionTest:
            let range = found.range
            guard let version = customer.originalAppVersion else { return 0.5 }
            if let from = range.from, version < from { return 0 }
            if let before = range.before, version >= before { return 0 }
            return 1
        case let found as OriginalPurchaseTest:
            let range = found.range
            guard let time = customer.originalPurchase else { return 0.5 }
            return within(range, time)
        case let test as ShareTest:
            let purchases = state.subscriptions.map(\.originalTransactionID)
            let candidates = state.appleAccounts.isEmpty ? purchases : Array(state.appleAccounts)
            guard let first = candidates.sorted(by: { $0.precedes($1) }).first else { return 0.5 }
            if state.appleAccounts.count != 1 && !state.history.isOfApp { return 0.5 }
            return Self.place(of: first.text.description, in: test.sample) < test.share ? 1 : 0
        case let found as EventTest<ShownEvent>: return events(.shown, found.offers, found.within, found.count)
        case let found as EventTest<DismissedEvent>: return events(.dismissed, found.offers, found.within, found.count)
        case let found as FirstShownTest:
            let times = customer.events.filter {
                $0.kind == .shown && found.offers?.contains($0.offerID.text.description) != false
            }.map(\.at)
            return times.contains { now - $0 > found.within } ? 0 : 1
        default: preconditionFailure("the reference does not know \(test)")
        }
    }

    private func events(
        _ kind: OfferEvent.Kind, _ offers: Set<String>?, _ within: Duration?, _ wanted: Bounds<Int>
    ) -> Double {
        var count = 0
        for event in customer.events where event.kind == kind {
            if let offers, !offers.contains(event.offerID.text.description) { continue }
            if let within, now - event.at > within { continue }
            count += 1
        }
        return inside(wanted, count)
    }

    /// The group tells of an offer only if the catalogue has the offer in such groups and nowhere else.
    private func knowsRedemptions(of offers: Set<String>?) -> Bool {
        if customer.state.history.isOfApp { return true }
        for offer in offers ?? [""] {
            let owners = products.productIDs.filter { $0.key == offer }.flatMap(\.value)
            if owners.isEmpty { return false }
            for product in owners {
                guard let group = products.groups[product], customer.state.history.groups.contains(group) else {
                    return false
                }
            }
        }
        return true
    }

    /// FNV-1a and the finalizer of MurmurHash3, as a fraction with 53 bits.
    private static func place(of id: String, in name: String) -> Double {
        let mixed = (name + "\0" + id).utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        let once = (mixed ^ mixed / (1 << 33)) &* 0xFF51_AFD7_ED55_8CCD
        let twice = (once ^ once / (1 << 33)) &* 0xC4CE_B9FE_1A85_EC53
        return Double((twice ^ twice / (1 << 33)) / 2048) / 9_007_199_254_740_992
    }

    private func within(_ range: DateRange, _ time: Timestamp) -> Double {
        if let from = range.from, time < from { return 0 }
        if let until = range.until, time >= until { return 0 }
        return 1
    }

    private func fact(_ test: TeamFactTest) -> Double {
        let value = customer.team[test.fact]
        if case .exists(let exists) = test.requirement { return (value != nil) == exists ? 1 : 0 }
        guard let value else { return 0.5 }
        switch (test.requirement, value) {
        case (.number(let bounds), .number(let digits)):
            return inside(bounds, Double(String(decoding: digits, as: UTF8.self)) ?? .nan)
        case (.date(let range), .text(let text)):
            guard let time = Timestamp(dateOrTime: String(decoding: text, as: UTF8.self)) else { return 0.5 }
            return within(range, time)
        case (.near(let last, let next), .text(let text)):
            guard let time = Timestamp(dateOrTime: String(decoding: text, as: UTF8.self)) else { return 0.5 }
            if time <= now { return last.map { time + $0 >= now } == true ? 1 : 0 }
            return next.map { time - $0 <= now } == true ? 1 : 0
        case (.isOneOf(let scalars), .text(let text)):
            return scalars.contains(.text(String(decoding: text, as: UTF8.self))) ? 1 : 0
        case (.isOneOf(let scalars), .bool(let bool)): return scalars.contains(.bool(bool)) ? 1 : 0
        case (.isOneOf(let scalars), .number(let digits)):
            return scalars.contains(.number(Double(String(decoding: digits, as: UTF8.self)) ?? 0)) ? 1 : 0
        default: return 0.5
        }
    }
}
