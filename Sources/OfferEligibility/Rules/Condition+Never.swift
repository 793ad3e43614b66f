import OfferCore

extension Condition {
    /// True if the condition can hold only if something is known to have never happened. This needs a complete history
    /// of the app: one from the App Store, or an app receipt.
    package var needsCompleteHistory: Bool { needsCompleteHistory(wanting: true) }

    /// - Parameter wanted: the required result of the condition.
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
