import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

/// The options that say which app and environment are meant.
struct AppOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The bundle ID of the app, if there are several.", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @Option(
        help: "The environment: Production (the default, if the app has it), Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    /// Returns the app and environment, and the settings of the app.
    func app(in catalogue: Catalogue) throws(CommandError) -> (AppScope, Catalogue.App) {
        let (id, app) = try catalogue.app(bundleID)
        return (try scope(id, app), app)
    }

    fileprivate func scope(_ id: BundleID, _ app: Catalogue.App) throws(CommandError) -> AppScope {
        let environment = environment ?? app.firstEnvironment
        guard app.environments.contains(environment) else {
            throw CommandError(
                "the app has no data in \(environment.rawValue)",
                hint: "its environments: \(app.environments.map(\.rawValue).sorted().joined(separator: ", "))")
        }
        return AppScope(bundleID: id, environment: environment)
    }
}

/// The options that say which app is meant, and which of several offers with one ID.
struct OfferSelectionOptions: ParsableArguments {
    @OptionGroup var app: AppOptions

    @Option(
        help: ArgumentHelp("The product of the offer, if several products have it.", valueName: "id"),
        transform: { text in
            do { return try ProductID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var productID: ProductID?

    /// Returns the app and environment, the product of the offer, and the settings of the app.
    func product(
        with offerID: OfferID, in catalogue: Catalogue
    ) throws(CommandError) -> (AppScope, ProductID, Catalogue.App) {
        let name = offerID.text.description.printable
        let apps = catalogue.apps.filter { id, settings in
            (app.bundleID == nil || id == app.bundleID) && settings.offers.values.contains { $0.contains(offerID) }
        }
        guard let (id, settings) = apps.first else {
            throw CommandError(
                "the configuration file has no offer \(name)", hint: "check the offer ID and --bundle-id")
        }
        guard apps.count == 1 else {
            throw CommandError("several apps have the offer \(name)", hint: "add --bundle-id")
        }
        let products = settings.offers.filter { product, offers in
            offers.contains(offerID) && (productID == nil || product == productID)
        }.keys
        guard let product = products.first else {
            throw CommandError("the product has no offer \(name)", hint: "check --product-id")
        }
        guard products.count == 1 else {
            throw CommandError("several products have the offer \(name)", hint: "add --product-id")
        }
        return (try app.scope(id, settings), product, settings)
    }
}
