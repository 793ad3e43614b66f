import OfferConfiguration
import OfferCore
import OfferEligibility

extension Configuration {
    /// Returns an app of the configuration file.
    /// - Parameter bundleID: nil for the only app.
    func app(_ bundleID: BundleID?) throws(CommandError) -> (id: BundleID, app: Catalogue.App) {
        try (catalogue ?? Catalogue(apps: [:])).app(bundleID)
    }
}

extension Catalogue {
    /// Returns an app of the configuration file.
    /// - Parameter bundleID: nil for the only app.
    func app(_ bundleID: BundleID?) throws(CommandError) -> (id: BundleID, app: Catalogue.App) {
        guard let bundleID = bundleID ?? onlyApp else {
            throw apps.isEmpty
                ? CommandError(
                    "the configuration file has no app",
                    hint: "name your apps in \(Settings.configurationFile.variable)")
                : CommandError("the configuration file has several apps", hint: "add --bundle-id")
        }
        guard let app = apps[bundleID] else {
            throw CommandError(
                "the configuration file has no app \(bundleID.text.description.printable)",
                hint: "use a bundleID from \(Settings.configurationFile.variable)")
        }
        return (bundleID, app)
    }
}
