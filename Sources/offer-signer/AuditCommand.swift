import ArgumentParser

/// `offer-signer audit`: the trail of what was signed.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Look at the trail of what was signed.",
        subcommands: [AuditVerifyCommand.self]
    )
}
