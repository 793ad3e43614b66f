import ArgumentParser

/// `offer-signer keys`: what there is to do with key files.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Look after key files.",
        subcommands: [KeysListCommand.self, KeysCheckCommand.self, KeysGenerateCommand.self]
    )
}
