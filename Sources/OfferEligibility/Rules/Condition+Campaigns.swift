extension Condition {
    /// The campaigns that the condition names, sorted.
    package var campaigns: [String] {
        switch self {
        case .all(let members), .any(let members): Set(members.flatMap(\.campaigns)).sorted()
        case .not(let member), .rule(_, let member): member.campaigns
        case .subscription: []
        case .test(let test): (test.kind as? LinkTest)?.campaigns.sorted() ?? []
        }
    }
}
