/// Every setting, declared once. Flags, `--help`, the check for unknown variables, the reload rules, the tables of
/// docs/configuration.md and the man page derive from these declarations.
package enum Settings {
    /// All settings, grouped by subject, in the order of the documentation.
    package static let groups = [
        keysGroup, callersGroup, listeningGroup, appStoreDataGroup, appStoreAPIGroup, appStoreConnectGroup,
        subscribersGroup, linksGroup, consoleGroup, recordingGroup,
    ]

    package static let all: [any SettingDeclaration] = groups.flatMap(\.settings)

    /// The settings of the audit trail.
    static let ofAudit: [any SettingDeclaration] = [
        auditLog, auditKey, auditSync, auditRotateMB, auditChain, auditAddresses,
    ]

    /// Returns true if a variable was probably meant for the service, even if its name is misspelled. If no setting has
    /// this name, the service refuses to start.
    static func isOurs(_ variable: String) -> Bool {
        let variable = variable.uppercased()
        return variable.hasPrefix("SUBSCRIPTION") && variable.contains("OFFER")
    }
}

/// Settings of one subject.
package struct SettingGroup: Sendable {
    /// The heading in the documentation.
    package let title: String
    /// The paragraph below the heading, in Markdown; nil if there is none.
    package let introduction: String?
    package let settings: [any SettingDeclaration]

    init(_ title: String, introduction: String? = nil, settings: [any SettingDeclaration]) {
        self.title = title
        self.introduction = introduction
        self.settings = settings
    }
}
