import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

/// The options that say which of several offers with one ID a report is about.
struct ReportSelection: ParsableArguments {
    @Option(
        help: ArgumentHelp("The bundle ID of the app, if there are several.", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @Option(
        help: ArgumentHelp("The product of the offer, if several products have it.", valueName: "id"),
        transform: { text in
            do { return try ProductID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var productID: ProductID?

    @Option(help: "The sample that divides the customers, if the rule has several.") var sample: String?

    @Option(
        help: "The environment: Production (the default, if the app has it), Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    /// Returns the offer of the configuration, and the settings of its app.
    func offer(_ offerID: OfferID, in catalogue: Catalogue) throws(CommandError) -> (ReportedOffer, Catalogue.App) {
        let name = offerID.text.description.printable
        let apps = catalogue.apps.filter { id, app in
            (bundleID == nil || id == bundleID) && app.offers.values.contains { $0.contains(offerID) }
        }
        guard let (id, app) = apps.first else {
            throw CommandError(
                "the configuration file has no offer \(name)", hint: "check the offer ID and --bundle-id")
        }
        guard apps.count == 1 else {
            throw CommandError("several apps have the offer \(name)", hint: "add --bundle-id")
        }
        let products = app.offers.filter { product, offers in
            offers.contains(offerID) && (productID == nil || product == productID)
        }.keys
        guard let product = products.first else {
            throw CommandError("the product has no offer \(name)", hint: "check --product-id")
        }
        guard products.count == 1 else {
            throw CommandError("several products have the offer \(name)", hint: "add --product-id")
        }
        let scope = AppScope(bundleID: id, environment: environment ?? app.firstEnvironment)
        return (
            ReportedOffer(
                app: scope, productID: product, offerID: offerID, sample: try sample(of: app, product, offerID)),
            app
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
