import ArgumentParser

/// `offer-signer app-store`: commands for data of the App Store.
struct AppStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Inspect data that the App Store signed.",
        subcommands: [AppStoreInspectCommand.self]
    )
}
