import OfferCore

extension Condition {
    /// True if the condition holds only for a known "never". This takes a history that is complete for the app: Apple's
    /// own, or an app receipt.
    package var needsCompleteHistory: Bool { needsCompleteHistory(wanting: true) }

    /// - Parameter wanted: the result that an offer needs.
    private func needsCompleteHistory(wanting wanted: Bool) -> Bool {
        switch self {
        case .all(let members):
            wanted
                ? members.contains { $0.needsCompleteHistory(wanting: true) }
                : members.allSatisfy { $0.needsCompleteHistory(wanting: false) }
        case .any(let members):
            wanted
                ? members.allSatisfy { $0.needsCompleteHistory(wanting: true) }
                : members.contains { $0.needsCompleteHistory(wanting: false) }
        case .not(let member): member.needsCompleteHistory(wanting: !wanted)
        case .rule(_, let condition): condition.needsCompleteHistory(wanting: wanted)
        case .subscription(let condition): !wanted && condition.groups == .any && condition.products == nil
        case .test(let test): test.kind.needsCompleteHistory(wanting: wanted)
        }
    }
}
