import OfferCore

/// `pendingOffer`: the offer for the next period.
package struct PendingOfferTest: SubscriptionTestKind {
    package static let name = "pendingOffer"
    package static let code = ReasonCode.pendingOffer
    package static let subject = "The offer of the next period"

    /// True for any offer, false for no offer, or a set of accepted identifiers.
    package enum Offer: Hashable, Sendable {
        case some(Bool)
        case offers(Set<String>)
    }

    package let offer: Offer

    package init(_ offer: Offer) {
        self.offer = offer
    }

    package static func read(_ value: some RuleValue) -> Self? {
        switch value.text {
        case "true"?: Self(.some(true))
        case "false"?: Self(.some(false))
        default:
            value.set(expected: "true, false or an offer ID") { $0.isEmpty ? nil : $0 }
                .map { Self(.offers($0)) }
        }
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard let pending = subscription.knownPendingOffer else { return .unknown }
        switch offer {
        case .some(let expected): return Truth((pending != .nothing) == expected)
        case .offers(let ids):
            guard case .one(let id) = pending else { return .no }
            return Truth(id.map(ids.contains) ?? false)
        }
    }

    package var required: ReasonValue {
        switch offer {
        case .some(let expected): .bool(expected)
        case .offers(let ids): .texts(ids)
        }
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.pendingOffer?.identifier.map { .text($0) }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.settled ? .renewalInfo : .notification
    }

    package static func contradiction(among tests: [Self]) -> String? {
        let expected = tests.compactMap { if case .some(let expected) = $0.offer { expected } else { nil } }
        let ids = tests.compactMap { if case .offers(let ids) = $0.offer { ids } else { nil } }
        let isApart = Set(expected).count > 1 || ids.areDisjoint() || expected.contains(false) && !ids.isEmpty
        return isApart ? Contradiction.values : nil
    }
}

extension SubscriptionTest {
    package static func pendingOffer(_ offer: PendingOfferTest.Offer) -> SubscriptionTest {
        SubscriptionTest(PendingOfferTest(offer))
    }
}

/// The known offer for the next period, or its known absence.
enum KnownPendingOffer: Hashable {
    case nothing
    /// The offer's identifier; nil if it has none.
    case one(String?)
}

extension Subscription {
    /// - Returns: nil if it is unknown. An ended subscription has no next period, so no offer either.
    var knownPendingOffer: KnownPendingOffer? {
        guard settled, !isStale else { return nil }
        switch status {
        case .expired, .revoked: return KnownPendingOffer.nothing
        case .active, .billingGracePeriod, .billingRetry:
            guard hasRenewalInfo else { return nil }
            return pendingOffer.map { .one($0.identifier) } ?? KnownPendingOffer.nothing
        }
    }
}
