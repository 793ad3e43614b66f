package import OfferCore
package import OfferEligibility

/// An app whose App Store data this service accepts.
package struct ExpectedApp: Hashable, Sendable {
    package let bundleID: BundleID
    /// Apple's number for the app; required for production.
    package let appAppleID: Int64?
    package let environments: Set<AppStoreEnvironment>

    /// - Parameters:
    ///   - environments: by default the sandbox, and production too if `appAppleID` is known.
    ///   - isDevelopment: true if data that Apple has not signed can be accepted: `Xcode` and `LocalTesting`.
    package init(
        bundleID: BundleID, appAppleID: Int64? = nil, environments: Set<AppStoreEnvironment>? = nil,
        isDevelopment: Bool = false
    ) throws(ExpectedAppError) {
        let environments = environments ?? (appAppleID == nil ? [.sandbox] : [.production, .sandbox])
        if let appAppleID, appAppleID <= 0 { throw .appAppleIDNotPositive }
        guard !environments.isEmpty else { throw .noEnvironment }
        for environment in environments {
            switch environment {
            case .sandbox: break
            case .production: guard appAppleID != nil else { throw .appAppleIDNeeded }
            case .xcode, .localTesting: guard isDevelopment else { throw .developmentOnly(environment) }
            default: throw .unknownEnvironment
            }
        }
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
    }

    package var expectedOrigin: ExpectedOrigin {
        ExpectedOrigin(bundleID: bundleID, appAppleID: appAppleID, environments: environments)
    }
}

/// The reason an app cannot be configured.
package enum ExpectedAppError: Error, Hashable, Sendable {
    case appAppleIDNotPositive
    /// Production data is checked against the app's Apple ID.
    case appAppleIDNeeded
    case noEnvironment
    case unknownEnvironment
    case developmentOnly(AppStoreEnvironment)
    /// Two apps have the same bundle ID.
    case duplicateBundleID(BundleID)
    /// Two apps have the same Apple ID.
    case duplicateAppAppleID(Int64)
}
