/// A named set of rights of a person in the console. The raw values are those of the claims and of the command line.
package enum ConsoleRole: String, CaseIterable, Hashable, Sendable {
    case support, marketing, `operator`, auditor

    /// The role in a sentence.
    var words: String {
        switch self {
        case .support: "support"
        case .marketing: "marketing"
        case .operator: "operator"
        case .auditor: "auditor"
        }
    }
}

/// A part of the console in the navigation.
package enum ConsoleSection: String, CaseIterable, Hashable, Sendable {
    case find, offers, lists, reports, grants, rules, alarms, deliveries, health, audit

    /// The roles that may open the section. Everybody may see their own activity.
    package var roles: [ConsoleRole] {
        switch self {
        case .find: [.support]
        case .offers: [.support, .marketing, .operator]
        case .grants, .lists: [.support, .marketing]
        case .reports: [.marketing]
        case .rules: [.marketing, .operator]
        case .alarms, .deliveries, .health: [.operator]
        case .audit: ConsoleRole.allCases
        }
    }

    package var address: PageAddress {
        switch self {
        case .find: PageAddress("/find")
        case .offers: PageAddress("/offers")
        case .lists: PageAddress("/lists")
        case .reports: PageAddress("/reports")
        case .grants: PageAddress("/grants")
        case .rules: PageAddress("/rules")
        case .alarms: PageAddress("/alarms")
        case .deliveries: PageAddress("/deliveries")
        case .health: PageAddress("/health")
        case .audit: PageAddress("/audit")
        }
    }

    var title: StaticString {
        switch self {
        case .find: "Find"
        case .offers: "Offers"
        case .lists: "Lists"
        case .reports: "Reports"
        case .grants: "Grants"
        case .rules: "Rules"
        case .alarms: "Alarms"
        case .deliveries: "Deliveries"
        case .health: "Health"
        case .audit: "Audit"
        }
    }
}
