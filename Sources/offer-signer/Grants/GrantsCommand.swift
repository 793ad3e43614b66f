import ArgumentParser

/// `offer-signer grants`: commands that give one offer to one customer.
struct GrantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "Give one offer to one customer, and list, approve and withdraw such grants.",
        subcommands: [
            GrantsListCommand.self, GrantsMakeCommand.self, GrantsApproveCommand.self, GrantsWithdrawCommand.self,
        ]
    )
}
