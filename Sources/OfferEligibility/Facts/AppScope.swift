package import OfferCore

/// The app and environment of a fact or customer. Sandbox and production data are never combined.
package struct AppScope: Hashable, Sendable {
    package let bundleID: BundleID
    package let environment: AppStoreEnvironment

    package init(bundleID: BundleID, environment: AppStoreEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }
}
