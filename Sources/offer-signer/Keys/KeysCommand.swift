import ArgumentParser

/// `offer-signer keys`: commands for keys.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Manage keys.",
        subcommands: [
            KeysListCommand.self, KeysCheckCommand.self, KeysGenerateCommand.self, KeysImportCommand.self,
        ]
    )
}
