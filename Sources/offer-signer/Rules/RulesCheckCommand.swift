import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService

/// `offer-signer rules check`: reads a configuration file, and reports every problem with its rules.
struct RulesCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the rules of the configuration file, and list the offers that have rules.",
        discussion: """
            Reports every problem with its line, its path, the value found, and valid values. Exits with status 0 if \
            there are none, otherwise 1. Warns about likely mistakes, such as an offer that is never the best one, a name \
            that does not exist, or limits that nobody can reach:

              offer-signer rules check --config offers.yaml
            """
    )

    @OptionGroup var folder: KeyFolderOptions

    func run() throws {
        let catalogue = try folder.readConfiguration().catalogue
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
