import ArgumentParser

/// `offer-signer audit`: commands for the audit trail.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verify the audit trail, and acknowledge breaks in it.",
        subcommands: [AuditVerifyCommand.self, AuditHeadCommand.self, AuditAcknowledgeCommand.self]
    )
}
