import OfferCore

extension Condition {
    /// Evaluates the condition. The result depends only on the arguments.
    package func truth(in context: EvaluationContext) -> Truth {
        switch self {
        case .all(let members): .all(members.lazy.map { $0.truth(in: context) })
        case .any(let members): .any(members.lazy.map { $0.truth(in: context) })
        case .not(let member): !member.truth(in: context)
        case .rule(_, let condition): condition.truth(in: context)
        case .subscription(let condition): condition.truth(in: context)
        case .test(let test): test.truth(in: context)
        }
    }

    /// Returns the reasons why the condition does not have the wanted result; empty if it does.
    ///
    /// If there is a definite reason, unknown facts are omitted.
    /// - Parameter truth: the result in this context.
    package func reasons(_ truth: Truth, wanting wanted: Bool = true, in context: EvaluationContext) -> [DecisionReason]
    {
        var findings: [RuleFinding] = []
        find(why: truth, wanting: wanted, in: context, &findings)
        return findings.reasons(in: context)
    }

    /// Adds the reasons why the condition has this result instead of the wanted one.
    func find(
        why truth: Truth, wanting wanted: Bool = true, in context: EvaluationContext, _ findings: inout [RuleFinding]
    ) {
        guard truth != (wanted ? .yes : .no) else { return }
        switch self {
        case .all(let members), .any(let members):
            // Only the members with the same result explain it.
            for member in members where member.truth(in: context) == truth {
                member.find(why: truth, wanting: wanted, in: context, &findings)
            }
        case .not(let member): member.find(why: !truth, wanting: !wanted, in: context, &findings)
        case .rule(_, let condition): condition.find(why: truth, wanting: wanted, in: context, &findings)
        case .subscription(let condition):
            findings += condition.findings(why: truth, wanting: wanted, in: context)
        case .test(let test): findings.append(.test(test, truth, wanted: wanted))
        }
    }
}

extension SubscriptionCondition {
    func truth(in context: EvaluationContext) -> Truth {
        let candidates = candidates(in: context)
        let known = Truth.any(candidates.lazy.map { truth(of: $0, in: context) })
        guard known != .yes, !isEverySubscriptionKnown(context) else { return known }
        // An unknown subscription may meet the condition.
        return .unknown
    }

    private func truth(of candidate: SubscriptionUnderTest, in context: EvaluationContext) -> Truth {
        .all(tests.lazy.map { $0.truth(of: candidate.subscription, in: context) })
    }

    fileprivate func findings(why truth: Truth, wanting wanted: Bool, in context: EvaluationContext) -> [RuleFinding] {
        let all = candidates(in: context)
        let toBlame = all.filter { self.truth(of: $0, in: context) == truth }
        let found = (toBlame.isEmpty ? all : toBlame).flatMap { candidate in
            tests.compactMap { test -> RuleFinding? in
                let result = test.truth(of: candidate.subscription, in: context)
                guard result != (wanted ? .yes : .no), truth == .unknown || result != .unknown else { return nil }
                return .subscriptionTest(test, result, wanted: wanted, candidate)
            }
        }
        let relevant = truth == .unknown ? found.filter { $0.code == .unknown } : found
        guard relevant.isEmpty else { return relevant }
        if context.groupID == nil, groups == .offered {
            return [.other(DecisionReason(.unknown, fact: "subscription", missing: .catalogue))]
        }
        return truth == .unknown
            ? [
                .other(DecisionReason(.unknown, fact: "subscription", missing: context.facts.state.historySource))
            ] : [.other(DecisionReason(.noSubscription, fact: "subscription"))]
    }

    /// Returns the subscriptions to test.
    private func candidates(in context: EvaluationContext) -> [SubscriptionUnderTest] {
        let current: [SubscriptionUnderTest] =
            switch groups {
            case .offered: context.offered
            case .any: context.current
            case .some(let ids): ids.sorted().compactMap(context.current(inGroup:))
            }
        guard let products else { return current }
        return current.filter { products.contains($0.subscription.productID) }
    }

    /// Returns true if the current subscription is known for the group of every product. A product in an unknown group
    /// may have an unknown subscription.
    private func isEveryProductRuledOut(_ context: EvaluationContext) -> Bool {
        guard let products else { return false }
        return products.allSatisfy { product in
            context.group(of: product).flatMap(context.current(inGroup:)) != nil
        }
    }

    /// Returns true if every subscription to test is known. A test covers only the current subscription of each group,
    /// which the App Store reports.
    private func isEverySubscriptionKnown(_ context: EvaluationContext) -> Bool {
        if context.facts.state.history.isOfApp { return groups != .offered || context.groupID != nil }
        return switch groups {
        case .any: isEveryProductRuledOut(context)
        case .offered: !context.offered.isEmpty
        case .some(let ids): ids.allSatisfy { context.current(inGroup: $0) != nil }
        }
    }
}
