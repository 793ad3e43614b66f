import ArgumentParser
import OfferConfiguration
import OfferService

/// `offer-signer rules show`: prints the built-in rules.
struct RulesShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the built-in rules as YAML, to copy and change.",
        discussion: """
            They are written in the same language as your own. A rule in the configuration file replaces the built-in \
            rule of the same name:

              offer-signer rules show >> offers.yaml
            """
    )

    func run() { StandardStreams.print(BuiltInRules.yaml) }
}
