import OfferCore

/// The decision about one offer for one customer at one time, with the reasons for a refusal.
package struct OfferDecision: Sendable {
    package let offer: OfferTerms
    package let isEligible: Bool
    /// True if only the customer's place in a sample keeps the customer from the offer.
    package let isHeldOut: Bool
    private let grounds: Grounds

    private enum Grounds: Sendable {
        case facts([RuleFinding], EvaluationContext)
        case limits([ReasonCode])
    }

    fileprivate init(
        _ offer: OfferTerms, isEligible: Bool, isHeldOut: Bool = false, _ findings: [RuleFinding],
        in context: EvaluationContext
    ) {
        self.offer = offer
        self.isEligible = isEligible
        self.isHeldOut = isHeldOut
        grounds = .facts(findings, context)
    }

    /// Refuses an offer because of its limits.
    package init(refusing offer: OfferTerms, for limits: [ReasonCode]) {
        self.offer = offer
        isEligible = false
        isHeldOut = false
        grounds = .limits(limits)
    }

    /// The customer's places in the samples of the rule.
    package var places: [SamplePlace] {
        switch grounds {
        case .facts(_, let context): offer.rule.places(in: context)
        case .limits: []
        }
    }

    /// The codes of the reasons for a refusal, in the order of the rule, without repeats. Empty if eligible.
    package var codes: [ReasonCode] {
        switch grounds {
        case .facts(let findings, _):
            findings.lazy.map(\.code).withoutRepeats
        case .limits(let codes): codes
        }
    }

    /// True if the offer is refused because the history is incomplete.
    package var needsHistory: Bool {
        guard case .facts(let findings, let context) = grounds else { return false }
        return findings.contains { $0.code == .unknown && $0.reason(in: context).needsHistory }
    }

    /// The reasons for a refusal with their values, in the order of the rule. Empty if eligible.
    package var reasons: [DecisionReason] {
        switch grounds {
        case .facts(let findings, let context): findings.reasons(in: context)
        case .limits(let codes): codes.map { DecisionReason($0) }
        }
    }
}

extension OfferDecision: Hashable {
    package static func == (one: OfferDecision, other: OfferDecision) -> Bool {
        one.offer == other.offer && one.isEligible == other.isEligible && one.reasons == other.reasons
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(offer)
        hasher.combine(codes)
    }
}

extension OfferTerms {
    /// Decides on this offer. The decision depends only on the offer and the arguments. An unknown fact never makes a
    /// customer eligible.
    ///
    /// Before the rule, it checks that the offer exists, the App Store's requirements, pending offers, billing retry and
    /// win-back offers. A grant replaces the rule; the decision is then about ``granted(by:)``.
    /// - Parameters:
    ///   - context: the context of this offer's product.
    ///   - rules: the rules of the app.
    func decide(in context: EvaluationContext, under rules: AppRules) -> OfferDecision {
        guard grant == nil, let grant = rules.grant(of: productID, offerID, to: context.facts, at: context.now) else {
            return counted(at: context.speed).decide(in: context, under: rules, replacing: rule)
        }
        return granted(by: grant).counted(at: context.speed).decide(in: context, under: rules, replacing: rule)
    }

    /// - Parameter replaced: the rule that a grant replaces; the offer's own without a grant.
    private func decide(
        in context: EvaluationContext, under rules: AppRules, replacing replaced: Rule
    ) -> OfferDecision {
        var findings = standingFindings(context, rules, replacing: replaced)
        let truth = rule.condition.truth(in: context)
        if findings.isEmpty, truth == .yes { return OfferDecision(self, isEligible: true, [], in: context) }
        let isHeldOut = findings.isEmpty && rule.isHeldOut(truth, in: context)
        rule.condition.find(why: truth, in: context, &findings)
        // If there is a definite reason, unknown facts do not matter.
        if findings.contains(where: { $0.code != .unknown }) { findings.removeAll { $0.code == .unknown } }
        return OfferDecision(self, isEligible: false, isHeldOut: isHeldOut, findings, in: context)
    }

    /// Returns the reasons to refuse this offer, apart from its rule.
    private func standingFindings(
        _ context: EvaluationContext, _ rules: AppRules, replacing replaced: Rule
    ) -> [RuleFinding] {
        var findings: [RuleFinding] = []
        let state = context.facts.state
        if rules.isUnavailable(self) { findings.append(.other(DecisionReason(.offerUnavailable))) }
        if isInCooldown(ofTypes: rules.countedOfferTypes, state, at: context.now) {
            findings.append(.other(DecisionReason(.cooldown)))
        }
        if state.everSubscribed != true { findings.append(.other(neverSubscribedReason(state))) }
        guard let current = context.redeemableSubscriptions.first else {
            // The offered product may be in an unknown group.
            if context.groupID == nil, state.everSubscribed == true {
                findings.append(.other(DecisionReason(.unknown, fact: "subscription", missing: .catalogue)))
            }
            return findings
        }
        for taker in context.redeemableSubscriptions {
            if let reason = ownershipReason(taker.subscription) { findings.append(.other(reason)) }
            if let reason = pendingReason(taker.subscription, rules) { findings.append(.other(reason)) }
            if let reason = retryReason(taker.subscription, replaced, in: context) { findings.append(.other(reason)) }
        }
        // An active subscriber normally has no win-back offers, so unknown ones do not matter.
        if rules.prefersWinBackOffers, !current.subscription.hasAccess || !current.subscription.winBackOffers.isEmpty {
            let condition = Condition.test(.winBackOffers(.none))
            condition.find(why: condition.truth(in: context), in: context, &findings)
        }
        return findings
    }

    private func neverSubscribedReason(_ state: SubscriberState) -> DecisionReason {
        // A customer who bought none of their subscriptions has a family share or a seat.
        let others = state.subscriptions.filter { $0.ownership == nil || !state.hasUnclearSubscription }
        if let reason = others.lazy.compactMap(ownershipReason).first { return reason }
        guard state.everSubscribed == nil else { return DecisionReason(.neverSubscribed) }
        return DecisionReason(
            .unknown, fact: "everSubscribed", required: .bool(true), missing: state.historySource)
    }

    private func ownershipReason(_ subscription: Subscription) -> DecisionReason? {
        switch subscription.ownership {
        case .purchased?: nil
        case .familyShared?: DecisionReason(.familyShared)
        case .assigned?: DecisionReason(.seatAssigned)
        case .other?: DecisionReason(.notPurchaser)
        case nil: DecisionReason(.unknown, fact: "subscription.ownership", missing: .transaction)
        }
    }

    /// The ledger knows the redemptions of promotional offers only.
    private func isInCooldown(
        ofTypes types: Set<OfferType>, _ state: SubscriberState, at now: Timestamp
    ) -> Bool {
        guard !types.isEmpty, let cooldown = limits.cooldown else { return false }
        return state.redemptions.contains { types.contains($0.type) && now < $0.at + cooldown }
    }

    private func pendingReason(_ subscription: Subscription, _ rules: AppRules) -> DecisionReason? {
        switch subscription.knownPendingOffer {
        case .nothing?: return nil
        case nil:
            return DecisionReason(
                .unknown, fact: "subscription.pendingOffer",
                missing: subscription.isStale ? .appStore : subscription.settled ? .renewalInfo : .notification)
        case .one(let identifier)?:
            let type = subscription.pendingOffer?.type
            guard let type, type == .promotional || rules.countedOfferTypes.contains(type) else { return nil }
            let isSame =
                type == .promotional && identifier == offerID.text.description
                && subscription.autoRenewProductID == productID
            return DecisionReason(
                isSame ? .pendingOffer : .otherOfferPending, fact: "subscription.pendingOffer",
                found: identifier.map { .text($0) }, required: isSame ? .bool(false) : nil)
        }
    }

    /// A rule for customers in billing retry also decides under a grant. The grant must not take its offer away from them.
    private func retryReason(
        _ subscription: Subscription, _ rule: Rule, in context: EvaluationContext
    ) -> DecisionReason? {
        guard subscription.settled, subscription.status == .billingRetry,
            !rule.condition.requiresBillingRetry(of: subscription, offeredIn: context.groupID)
        else { return nil }
        return DecisionReason(.billingRetry)
    }
}
