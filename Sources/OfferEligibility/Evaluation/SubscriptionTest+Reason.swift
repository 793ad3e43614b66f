import OfferCore

extension SubscriptionTest {
    /// The reason why the test does not have the wanted result for a subscription.
    /// - Parameters:
    ///   - truth: the result.
    ///   - wanted: true if the test should hold.
    func reason(_ truth: Truth, wanting wanted: Bool, of subscription: Subscription) -> DecisionReason {
        if truth == .unknown {
            return DecisionReason(
                .unknown, fact: fact, required: required, isExcluded: !wanted, missing: source(subscription))
        }
        return DecisionReason(code, fact: fact, found: found(subscription), required: required, isExcluded: !wanted)
    }

    package var code: ReasonCode {
        switch self {
        case .status: .subscriptionStatus
        case .autoRenew: .autoRenew
        case .renewsTo: .renewsTo
        case .endedBecause: .endedBecause
        case .endedAgo: .endedAgo
        case .endsIn: .endsIn
        case .renewals: .renewals
        case .subscribedFor: .subscribedFor
        case .lastPeriod: .lastPeriod
        case .pendingOffer: .pendingOffer
        case .ownership: .ownership
        case .priceIncrease: .priceIncrease
        case .rank: .rank
        }
    }

    private var fact: String {
        switch self {
        case .status: "subscription.status"
        case .autoRenew: "subscription.autoRenew"
        case .renewsTo: "subscription.renewsTo"
        case .endedBecause: "subscription.endedBecause"
        case .endedAgo: "subscription.endedAgo"
        case .endsIn: "subscription.endsIn"
        case .renewals: "subscription.renewals"
        case .subscribedFor: "subscription.subscribedFor"
        case .lastPeriod: "subscription.lastPeriod"
        case .pendingOffer: "subscription.pendingOffer"
        case .ownership: "subscription.ownership"
        case .priceIncrease: "subscription.priceIncrease"
        case .rank: "subscription.rank"
        }
    }

    private var required: ReasonValue {
        switch self {
        case .status(let values): .texts(values.map(\.rawValue))
        case .autoRenew(let isOn): .text(isOn ? "on" : "off")
        case .renewsTo(let values): .texts(values.map(\.text))
        case .endedBecause(let values): .texts(values.map(\.rawValue))
        case .endedAgo(let bounds), .endsIn(let bounds), .subscribedFor(let bounds):
            ReasonValue(bounds) { .duration($0) }
        case .renewals(let bounds): ReasonValue(bounds) { .number(Double($0)) }
        case .lastPeriod(let values): .texts(values.map(\.rawValue))
        case .pendingOffer(.some(let expected)): .bool(expected)
        case .pendingOffer(.offers(let ids)): .texts(ids)
        case .ownership(let values): .texts(values.map(\.rawValue))
        case .priceIncrease(let values): .texts(values.map(\.rawValue))
        case .rank(let values): .texts(values.map(\.rawValue))
        }
    }

    private func found(_ subscription: Subscription) -> ReasonValue? {
        switch self {
        case .status: .text(subscription.status.rawValue)
        case .autoRenew: subscription.autoRenews.map { .text($0 ? "on" : "off") }
        case .renewsTo:
            subscription.autoRenews == true ? subscription.autoRenewProductID.map { .text($0.text.description) } : nil
        case .endedBecause: subscription.endedBecause.map { .text($0.rawValue) }
        case .endedAgo: subscription.endedAt.map { .time($0) }
        case .endsIn: subscription.end.map { .time($0) }
        case .renewals: .number(Double(subscription.renewals))
        case .subscribedFor: .time(subscription.subscribedSince)
        case .lastPeriod: .text(subscription.lastPeriod.rawValue)
        case .pendingOffer: subscription.pendingOffer?.identifier.map { .text($0) }
        case .ownership: subscription.ownership.map { .text($0.rawValue) }
        case .priceIncrease: subscription.priceIncrease.map { .text($0.rawValue) }
        case .rank: nil
        }
    }

    /// The source that could supply the fact.
    private func source(_ subscription: Subscription) -> DecisionReason.Source {
        if subscription.isStale, !isLasting { return .appStore }
        return switch self {
        case .status, .endedBecause, .endedAgo: .notification
        case .autoRenew, .priceIncrease: .renewalInfo
        case .renewsTo: subscription.autoRenews == nil ? .renewalInfo : .catalogue
        case .endsIn, .pendingOffer: subscription.settled ? .renewalInfo : .notification
        case .renewals, .subscribedFor: subscription.settled ? .history : .notification
        case .lastPeriod, .ownership: .transaction
        case .rank: .catalogue
        }
    }
}

extension SubscriptionTest.Renewal {
    fileprivate var text: String {
        switch self {
        case .same: "same"
        case .lower: "lower"
        case .higher: "higher"
        case .product(let productID): productID.text.description
        }
    }
}
