import OfferCore

extension Condition {
    /// Evaluates the condition. It reads only its arguments.
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

    /// The reasons why the condition does not have the wanted result. Empty if it does.
    ///
    /// If a definite reason exists, unknown ones are left out.
    /// - Parameter truth: the result in this situation.
    package func reasons(_ truth: Truth, wanting wanted: Bool = true, in situation: Situation) -> [DecisionReason] {
        var findings: [Finding] = []
        find(why: truth, wanting: wanted, in: situation, &findings)
        return findings.reasons(in: situation)
    }

    /// Adds the reasons why the condition has this result and not the wanted one.
    func find(why truth: Truth, wanting wanted: Bool = true, in situation: Situation, _ findings: inout [Finding]) {
        guard truth != (wanted ? .yes : .no) else { return }
        switch self {
        case .all(let members), .any(let members):
            // If one member can cause the result, the members with that result are the reasons.
            for member in members where member.truth(in: situation) == truth {
                member.find(why: truth, wanting: wanted, in: situation, &findings)
            }
        case .not(let member): member.find(why: !truth, wanting: !wanted, in: situation, &findings)
        case .rule(_, let condition): condition.find(why: truth, wanting: wanted, in: situation, &findings)
        case .subscription(let condition):
            findings += condition.findings(why: truth, wanting: wanted, in: situation)
        case .test(let test): findings.append(.test(test, truth, wanted: wanted))
        }
    }
}

extension SubscriptionCondition {
    func truth(in situation: Situation) -> Truth {
        let candidates = candidates(in: situation)
        let known = Truth.any(candidates.lazy.map { truth(of: $0, in: situation) })
        guard known != .yes, !isEverySubscriptionKnown(situation) else { return known }
        // There may be a subscription that no data mentions.
        return .unknown
    }

    private func truth(of candidate: Candidate, in situation: Situation) -> Truth {
        .all(tests.lazy.map { $0.truth(of: candidate.subscription, in: situation) })
    }

    fileprivate func findings(why truth: Truth, wanting wanted: Bool, in situation: Situation) -> [Finding] {
        let all = candidates(in: situation)
        let toBlame = all.filter { self.truth(of: $0, in: situation) == truth }
        let found = (toBlame.isEmpty ? all : toBlame).flatMap { candidate in
            tests.compactMap { test -> Finding? in
                let result = test.truth(of: candidate.subscription, in: situation)
                guard result != (wanted ? .yes : .no), truth == .unknown || result != .unknown else { return nil }
                return .subscriptionTest(test, result, wanted: wanted, candidate)
            }
        }
        let relevant = truth == .unknown ? found.filter { $0.code == .unknown } : found
        guard relevant.isEmpty else { return relevant }
        if situation.groupID == nil, groups == .offered {
            return [.other(DecisionReason(.unknown, fact: "subscription", missing: .catalogue))]
        }
        return truth == .unknown
            ? [
                .other(DecisionReason(.unknown, fact: "subscription", missing: situation.facts.state.historySource))
            ] : [.other(DecisionReason(.noSubscription, fact: "subscription"))]
    }

    /// The subscriptions that are tested.
    private func candidates(in situation: Situation) -> [Candidate] {
        let current: [Candidate] =
            switch groups {
            case .offered: situation.offered
            case .any: situation.current
            case .some(let ids): ids.sorted().compactMap(situation.current(inGroup:))
            }
        guard let products else { return current }
        return current.filter { products.contains($0.subscription.productID) }
    }

    /// True if the current subscription of every group that contains one of the products is known. A product of an unknown
    /// group may have a subscription that nothing reports.
    private func isEveryProductRuledOut(_ situation: Situation) -> Bool {
        guard let products else { return false }
        return products.allSatisfy { product in
            situation.group(of: product).flatMap(situation.current(inGroup:)) != nil
        }
    }

    /// True if no other subscription to test can exist. Only the current one of each group is tested, and the App Store reports
    /// that one.
    private func isEverySubscriptionKnown(_ situation: Situation) -> Bool {
        if situation.facts.state.history.isOfApp { return groups != .offered || situation.groupID != nil }
        return switch groups {
        case .any: isEveryProductRuledOut(situation)
        case .offered: !situation.offered.isEmpty
        case .some(let ids): ids.allSatisfy { situation.current(inGroup: $0) != nil }
        }
    }
}
