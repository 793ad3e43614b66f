import OfferCore

extension Condition {
    /// The reason why the condition must not be used: reports from apps could make it hold. nil if they cannot.
    package var misuse: String? { misuse(wanting: true) }

    /// - Parameter wanted: the required result of the condition.
    private func misuse(wanting wanted: Bool) -> String? {
        switch self {
        case .all(let members), .any(let members): members.lazy.compactMap { $0.misuse(wanting: wanted) }.first
        case .not(let member): member.misuse(wanting: !wanted)
        case .rule(_, let condition): condition.misuse(wanting: wanted)
        case .subscription: nil
        case .test(let test): test.kind.misuse(wanting: wanted)
        }
    }

    /// True if reports from apps can change the result.
    package var readsReports: Bool {
        switch self {
        case .all(let members), .any(let members): members.contains(where: \.readsReports)
        case .not(let member), .rule(_, let member): member.readsReports
        case .subscription: false
        case .test(let test): test.kind.misuse(wanting: true) != nil || test.kind.misuse(wanting: false) != nil
        }
    }

    /// Returns the condition in the rule of an offer. A test that names no offer is about this one.
    func about(_ offerID: OfferID) -> Condition {
        switch self {
        case .all(let members): .all(members.map { $0.about(offerID) })
        case .any(let members): .any(members.map { $0.about(offerID) })
        case .not(let member): .not(member.about(offerID))
        case .rule(let name, let condition): .rule(name, condition.about(offerID))
        case .subscription: self
        case .test(let test): .test(test.about(offerID))
        }
    }
}
