import ArgumentParser

/// `offer-signer app-store`: commands for App Store data and for requests to the App Store.
struct AppStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Inspect data that the App Store signed, and query the App Store.",
        subcommands: [
            AppStoreInspectCommand.self, AppStoreTestNotificationCommand.self, AppStoreRecoverCommand.self,
            AppStoreRefreshCommand.self, AppStoreStatusesCommand.self, AppStoreHistoryCommand.self,
        ]
    )
}
