package import OfferCore
package import OfferEligibility

/// The app and environment that a payload must state. A nil value is not checked.
package struct ExpectedOrigin: Hashable, Sendable {
    package let bundleID: BundleID?
    /// The app's Apple ID. It is checked only for production, where Apple documents that it is present.
    package let appAppleID: Int64?
    package let environments: Set<AppStoreEnvironment>?

    package init(
        bundleID: BundleID? = nil, appAppleID: Int64? = nil, environments: Set<AppStoreEnvironment>? = nil
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
    }

    /// Checks the app before the environment, as Apple's server libraries do: a sandbox payload of another app is
    /// refused because of its app.
    package func check(_ origin: PayloadOrigin) throws(CheckFailure) {
        try checkBundleID(origin)
        try checkAppAppleID(origin)
        try checkEnvironment(origin)
    }

    private func checkBundleID(_ origin: PayloadOrigin) throws(CheckFailure) {
        guard let bundleID, origin.kind.carriesBundleID else { return }
        guard let found = origin.bundleID else { throw .bundleIDMissing }
        guard found == bundleID else { throw .anotherBundleID }
    }

    private func checkAppAppleID(_ origin: PayloadOrigin) throws(CheckFailure) {
        guard let appAppleID, origin.kind.carriesAppAppleID, origin.environment == .production else { return }
        guard let found = origin.appAppleID else { throw .appAppleIDMissing }
        guard found == appAppleID else { throw .anotherAppAppleID }
    }

    private func checkEnvironment(_ origin: PayloadOrigin) throws(CheckFailure) {
        guard let environments else { return }
        guard let found = origin.environment else { throw .environmentMissing }
        guard environments.contains(found) else { throw .environmentNotAccepted }
    }
}
