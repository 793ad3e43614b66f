extension Condition {
    /// Whether the condition holds. It reads nothing but its arguments.
    package func truth(in situation: Situation) -> Truth {
        switch self {
        case .all(let members): .all(members.lazy.map { $0.truth(in: situation) })
        case .any(let members): .any(members.lazy.map { $0.truth(in: situation) })
        case .not(let member): !member.truth(in: situation)
        case .rule(_, let condition): condition.truth(in: situation)
        case .subscription(let condition): condition.truth(in: situation)
        case .test(let test): test.truth(in: situation)
        }
    }

    /// Why the condition does not have the wanted result. Empty if it has.
    ///
    /// Where something is definitely wrong, what is unknown beside it is left out.
    /// - Parameter truth: the result in this situation.
    package func reasons(_ truth: Truth, wanting wanted: Bool = true, in situation: Situation) -> [DecisionReason] {
        guard truth != (wanted ? .yes : .no) else { return [] }
        switch self {
        case .all(let members), .any(let members):
            // Where one member alone can be to blame, those with the same result as the whole are.
            return members.flatMap { member in
                member.truth(in: situation) == truth ? member.reasons(truth, wanting: wanted, in: situation) : []
            }
        case .not(let member): return member.reasons(!truth, wanting: !wanted, in: situation)
        case .rule(_, let condition): return condition.reasons(truth, wanting: wanted, in: situation)
        case .subscription(let condition): return condition.reasons(truth, wanting: wanted, in: situation)
        case .test(let test): return [test.reason(truth, wanting: wanted, in: situation)]
        }
    }
}

extension SubscriptionCondition {
    func truth(in situation: Situation) -> Truth {
        let candidates = candidates(in: situation)
        let known = Truth.any(candidates.lazy.map { truth(of: $0, in: situation) })
        guard known != .yes, !isEverySubscriptionKnown(candidates, situation) else { return known }
        // There may be a subscription that nobody has mentioned.
        return .unknown
    }

    private func truth(of subscription: Subscription, in situation: Situation) -> Truth {
        .all(tests.lazy.map { $0.truth(of: subscription, in: situation) })
    }

    func reasons(_ truth: Truth, wanting wanted: Bool, in situation: Situation) -> [DecisionReason] {
        let all = candidates(in: situation)
        let toBlame = all.filter { self.truth(of: $0, in: situation) == truth }
        let ofCandidates = (toBlame.isEmpty ? all : toBlame).flatMap { subscription in
            tests.compactMap { test -> DecisionReason? in
                let result = test.truth(of: subscription, in: situation)
                guard result != (wanted ? .yes : .no), truth == .unknown || result != .unknown else { return nil }
                return test.reason(result, wanting: wanted, of: subscription)
            }
        }
        let reasons = ofCandidates.withoutRepeats
        guard reasons.isEmpty || truth == .unknown && !reasons.contains(where: { $0.code == .unknown }) else {
            return truth == .unknown ? reasons.filter { $0.code == .unknown } : reasons
        }
        if situation.groupID == nil, groups == .offered {
            return [DecisionReason(.unknown, fact: "subscription", missing: .catalogue)]
        }
        return truth == .unknown
            ? [DecisionReason(.unknown, fact: "subscription", missing: situation.facts.state.historySource)]
            : [DecisionReason(.noSubscription, fact: "subscription")]
    }

    /// The subscriptions that are looked at.
    private func candidates(in situation: Situation) -> [Subscription] {
        let current: [Subscription] =
            switch groups {
            case .offered: situation.offered
            case .any: situation.current
            case .some(let ids): ids.sorted().compactMap { situation.facts.state.current(inGroup: $0) }
            }
        guard let products else { return current }
        return current.filter { products.contains($0.productID) }
    }

    /// Whether no further subscription can exist that would be looked at. In each group only the current one is, and the App Store
    /// reports of that one.
    private func isEverySubscriptionKnown(_ candidates: [Subscription], _ situation: Situation) -> Bool {
        if situation.facts.state.history == .whole { return groups != .offered || situation.groupID != nil }
        return switch groups {
        case .any: false
        case .offered: situation.subscription != nil
        case .some(let ids): ids.allSatisfy { situation.facts.state.current(inGroup: $0) != nil }
        }
    }
}
