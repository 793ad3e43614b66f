package import OfferCore
package import OfferEligibility

/// An app for which this service accepts App Store data.
package struct ExpectedApp: Hashable, Sendable {
    package let bundleID: BundleID
    /// The app's Apple ID; required for production.
    package let appAppleID: Int64?
    package let environments: Set<AppStoreEnvironment>

    /// - Parameters:
    ///   - environments: the accepted environments. The default is the sandbox, and also production if `appAppleID` is
    ///     known.
    ///   - isDevelopment: true to permit the environments `Xcode` and `LocalTesting`, in which Apple does not sign the
    ///     data.
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

/// The reason that the configuration of an app is invalid.
package enum ExpectedAppError: Error, Hashable, Sendable {
    case appAppleIDNotPositive
    /// The app's Apple ID is missing, but production data is checked against it.
    case appAppleIDNeeded
    case noEnvironment
    case unknownEnvironment
    case developmentOnly(AppStoreEnvironment)
    /// Two apps have the same bundle ID.
    case duplicateBundleID(BundleID)
    /// Two apps have the same Apple ID.
    case duplicateAppAppleID(Int64)
}
