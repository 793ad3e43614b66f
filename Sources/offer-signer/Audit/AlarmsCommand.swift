import ArgumentParser

/// `offer-signer alarms`: commands for redemptions that no signature of the service explains.
struct AlarmsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alarms",
        abstract: "Show and acknowledge redemptions that no signature of this service explains.",
        subcommands: [AlarmsShowCommand.self, AlarmsAcknowledgeCommand.self]
    )
}
