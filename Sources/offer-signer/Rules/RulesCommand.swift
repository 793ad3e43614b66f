import ArgumentParser

/// `offer-signer rules`: commands for the rules that decide about offers.
struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Show, check and try the rules that decide who gets an offer.",
        subcommands: [RulesShowCommand.self, RulesCheckCommand.self, RulesTryCommand.self]
    )
}
