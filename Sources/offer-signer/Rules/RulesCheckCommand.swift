import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer rules check`: reads a configuration file, and reports every problem with its rules.
struct RulesCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the rules of the configuration file, and list the offers that have rules.",
        discussion: """
            Reports every problem with its line, its path, the value found, and valid values. Exits with status 0 if \
            there are none, otherwise 1. Warns about likely mistakes, such as an offer that is never the best one, a name \
            that does not exist, or limits that nobody can reach:

              offer-signer rules check --config offers.yaml

            With --database, a sample of share must have the size with which the service first ran. Nothing \
            is changed, so you can use it while the service runs.
            """
    )

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let catalogue = try options.configuration().catalogue
        if options.database != nil, let catalogue {
            let drawn = try await options.withStore { store in try await store.sampleSizes() }
            let problems = catalogue.changedSamples(since: drawn)
            guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        }
        let apps = (catalogue?.apps ?? [:]).sorted { $0.key.text.description < $1.key.text.description }
        for (bundleID, app) in apps {
            for offer in app.rules.offers {
                let rule = offer.rule.name.map { "rule \($0)" } ?? "an inline condition"
                StandardStreams.print(
                    "\(bundleID.text) \(offer.productID.text) \(offer.offerID.text): \(rule), priority \(offer.priority)\n"
                )
            }
            if let rule = app.rules.introductoryOffers {
                StandardStreams.print(
                    "\(bundleID.text) introductory offers: \(rule.name.map { "rule \($0)" } ?? "an inline condition")\n"
                )
            }
        }
        for warning in catalogue.map(CatalogueLint.warnings) ?? [] {
            StandardStreams.print("warning: \(warning.error)\nhint: \(warning.hint)\n")
        }
        for note in catalogue.map({ CatalogueLint.notes(about: $0) }) ?? [] {
            StandardStreams.print("note: \(note.error)\nhint: \(note.hint)\n")
        }
        StandardStreams.print("ok: the rules are consistent\n")
    }
}
