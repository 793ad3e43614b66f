package import OfferCore

/// The app and environment that every fact and customer belongs to. A sandbox customer and a production customer never
/// meet.
package struct AppScope: Hashable, Sendable {
    package let bundleID: BundleID
    package let environment: AppStoreEnvironment

    package init(bundleID: BundleID, environment: AppStoreEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }
}
