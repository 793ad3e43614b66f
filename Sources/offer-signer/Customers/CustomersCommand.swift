import ArgumentParser

/// `offer-signer customers`: commands for stored data about customers.
struct CustomersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers",
        abstract: "Look up and list stored customers, and set facts about them.",
        subcommands: [CustomersShowCommand.self, CustomersListCommand.self, CustomersSetFactsCommand.self]
    )
}
