import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

/// The options that say which of several offers with one ID a report is about.
struct ReportSelection: ParsableArguments {
    @OptionGroup var offers: OfferSelectionOptions
    @Option(help: "The sample that divides the customers, if the rule has several.") var sample: String?

    /// True if an option says something about the offer itself.
    var isAboutOffer: Bool { sample != nil || offers.productID != nil }

    /// Returns the offer of the configuration, and the settings of its app.
    func offer(_ offerID: OfferID, in catalogue: Catalogue) throws(CommandError) -> (ReportedOffer, Catalogue.App) {
        let (scope, product, app) = try offers.product(with: offerID, in: catalogue)
        return (
            ReportedOffer(
                app: scope, productID: product, offerID: offerID, sample: try sample(of: app, product, offerID)), app
        )
    }

    private func sample(
        of app: Catalogue.App, _ product: ProductID, _ offerID: OfferID
    ) throws(CommandError) -> String? {
        if let sample { return sample }
        let names = app.rules.terms(of: product, offerID)?.rule.sampleNames ?? []
        guard names.count <= 1 else {
            throw CommandError("the rule has several samples: \(names.joined(separator: ", "))", hint: "add --sample")
        }
        return names.first
    }
}
