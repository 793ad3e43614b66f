import ArgumentParser

/// Sends App Store notifications to a running service, and receives what it forwards.
@main
struct NotificationLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification-load", abstract: "Load for the intake of App Store notifications.",
        subcommands: [MakeRootsCommand.self, SendCommand.self, ReceiveCommand.self])
}
