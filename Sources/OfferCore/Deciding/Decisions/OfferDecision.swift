/// Whether one customer may have one offer at one time, and why not.
package struct OfferDecision: Hashable, Sendable {
    package let offer: OfferTerms
    package let isEligible: Bool
    /// Why not, in the order of the rule. Empty for a yes.
    package let reasons: [DecisionReason]

    package init(offer: OfferTerms, isEligible: Bool, reasons: [DecisionReason]) {
        self.offer = offer
        self.isEligible = isEligible
        self.reasons = reasons
    }
}

extension OfferTerms {
    /// Decides about this offer. It reads nothing but its arguments, and an unknown never becomes a yes.
    ///
    /// What the App Store itself requires, and what no rule can mean, comes before the rule.
    /// - Parameter situation: that of this offer's product.
    func decide(in situation: Situation, prefersWinBackOffers: Bool) -> OfferDecision {
        let standing = standingReasons(situation, prefersWinBackOffers)
        let truth = rule.condition.truth(in: situation)
        if standing.isEmpty, truth == .yes { return OfferDecision(offer: self, isEligible: true, reasons: []) }
        let all = (standing + rule.condition.reasons(truth, in: situation)).withoutRepeats
        // Where something is definitely wrong, what is unknown beside it does not matter.
        let definite = all.filter { $0.code != .unknown }
        return OfferDecision(offer: self, isEligible: false, reasons: definite.isEmpty ? all : definite)
    }

    /// The reasons against this offer that hold under any rule.
    private func standingReasons(_ situation: Situation, _ prefersWinBackOffers: Bool) -> [DecisionReason] {
        var reasons: [DecisionReason] = []
        let state = situation.facts.state
        if state.everSubscribed != true {
            let isShared = !state.subscriptions.isEmpty
            if isShared {
                reasons.append(DecisionReason(.familyShared))
            } else {
                reasons.append(
                    state.everSubscribed == false
                        ? DecisionReason(.neverSubscribed)
                        : DecisionReason(
                            .unknown, fact: "everSubscribed", required: .bool(true),
                            missing: state.historySource))
            }
        }
        guard let subscription = situation.subscription else {
            // It may be in a group that nobody has named.
            if situation.groupID == nil, state.everSubscribed == true {
                reasons.append(DecisionReason(.unknown, fact: "subscription", missing: .catalogue))
            }
            return reasons
        }
        for taker in situation.takers {
            reasons += ownershipReasons(taker) + pendingReasons(taker) + retryReasons(taker)
        }
        if prefersWinBackOffers {
            // An active subscriber is offered none.
            if !subscription.hasAccess || !subscription.winBackOffers.isEmpty {
                let condition = Condition.test(.winBackOffers(.none))
                reasons += condition.reasons(condition.truth(in: situation), in: situation)
            }
        }
        return reasons
    }

    private func ownershipReasons(_ subscription: Subscription) -> [DecisionReason] {
        switch subscription.ownership {
        case .purchased?: []
        case .familyShared?: [DecisionReason(.familyShared)]
        case nil: [DecisionReason(.unknown, fact: "subscription.ownership", missing: .transaction)]
        }
    }

    private func pendingReasons(_ subscription: Subscription) -> [DecisionReason] {
        switch subscription.knownPendingOffer {
        case .nothing?: return []
        case nil:
            return [
                DecisionReason(
                    .unknown, fact: "subscription.pendingOffer",
                    missing: subscription.isOld ? .appStore : subscription.settled ? .renewalInfo : .notification)
            ]
        case .one(let identifier)?:
            guard subscription.pendingOffer?.type == .promotional else { return [] }
            let isSame = identifier == offerID.text.description && subscription.autoRenewProductID == productID
            return [
                DecisionReason(
                    isSame ? .pendingOffer : .otherOfferPending, fact: "subscription.pendingOffer",
                    found: identifier.map { .text($0) }, required: isSame ? .bool(false) : nil)
            ]
        }
    }

    private func retryReasons(_ subscription: Subscription) -> [DecisionReason] {
        guard subscription.settled, subscription.status == .billingRetry, !rule.condition.asksForBillingRetry else {
            return []
        }
        return [DecisionReason(.billingRetry)]
    }
}

extension [DecisionReason] {
    /// The first of each.
    var withoutRepeats: Self { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
