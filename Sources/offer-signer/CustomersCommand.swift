import ArgumentParser

/// `offer-signer customers`: commands for what is known of customers.
struct CustomersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers",
        abstract: "Look up customers.",
        subcommands: [CustomersShowCommand.self]
    )
}
