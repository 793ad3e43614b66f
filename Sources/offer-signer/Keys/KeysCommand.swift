import ArgumentParser

/// `offer-signer keys`: commands for key files.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Manage key files.",
        subcommands: [KeysListCommand.self, KeysCheckCommand.self, KeysGenerateCommand.self]
    )
}
