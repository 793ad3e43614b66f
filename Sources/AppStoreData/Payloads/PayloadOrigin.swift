package import OfferCore
package import OfferEligibility

/// The app and environment that a payload names as its origin.
package struct PayloadOrigin: Hashable, Sendable {
    package let kind: PayloadKind
    package let bundleID: BundleID?
    package let appAppleID: Int64?
    package let environment: AppStoreEnvironment?

    package init(
        _ kind: PayloadKind, bundleID: BundleID? = nil, appAppleID: Int64? = nil, environment: AppStoreEnvironment?
    ) {
        self.kind = kind
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
    }
}

extension SignedTransaction {
    package var origin: PayloadOrigin { PayloadOrigin(.transaction, bundleID: bundleID, environment: environment) }
}

extension RenewalInfo {
    package var origin: PayloadOrigin { PayloadOrigin(.renewalInfo, environment: environment) }
}

extension AppTransaction {
    package var origin: PayloadOrigin {
        PayloadOrigin(.appTransaction, bundleID: bundleID, appAppleID: appAppleID, environment: environment)
    }
}

extension RetentionRequest {
    package var origin: PayloadOrigin {
        PayloadOrigin(.retentionRequest, appAppleID: appAppleID, environment: environment)
    }
}

extension AppStoreNotification {
    package var origin: PayloadOrigin {
        switch content {
        case .data(let data): Self.origin(data.bundleID, data.appAppleID, data.environment)
        case .summary(let summary): Self.origin(summary.bundleID, summary.appAppleID, summary.environment)
        case .externalPurchaseToken(let token): Self.origin(token.bundleID, token.appAppleID, token.environment)
        case .appData(let app): Self.origin(app.bundleID, app.appAppleID, app.environment)
        case .unknown: PayloadOrigin(.notification, environment: nil)
        }
    }

    private static func origin(
        _ bundleID: BundleID, _ appAppleID: Int64?, _ environment: AppStoreEnvironment?
    ) -> PayloadOrigin {
        PayloadOrigin(.notification, bundleID: bundleID, appAppleID: appAppleID, environment: environment)
    }
}
