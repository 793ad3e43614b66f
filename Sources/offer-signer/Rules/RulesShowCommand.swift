import ArgumentParser
import OfferConfiguration
import OfferService

/// `offer-signer rules show`: prints the built-in rules.
struct RulesShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the built-in rules as YAML, for copying and editing.",
        discussion: """
            Built-in rules use the same language as your own rules. A rule in the configuration file replaces the built-in \
            rule of the same name:

              offer-signer rules show >> offers.yaml
            """
    )

    func run() { StandardStreams.print(BuiltInRules.yaml) }
}
