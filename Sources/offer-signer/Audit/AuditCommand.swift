import ArgumentParser

/// `offer-signer audit`: commands for the audit trail.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Inspect the audit trail.",
        subcommands: [AuditVerifyCommand.self, AuditHeadCommand.self, AuditAcknowledgeCommand.self]
    )
}
