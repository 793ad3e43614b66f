import OfferConfiguration
import OfferCore
import OfferEligibility

extension Configuration {
    /// Returns an app of the configuration file.
    func app(_ bundleID: BundleID) throws(CommandError) -> Catalogue.App {
        guard let app = catalogue?.apps[bundleID] else {
            throw CommandError(
                "the configuration file has no app \(bundleID.text.description.printable)",
                hint: "use a bundleID from \(Settings.configurationFile.variable)")
        }
        return app
    }
}
