package import OfferCore
package import OfferEligibility

/// The contents of an app receipt, as signed at ``creationDate``.
///
/// Source: Apple, "Receipt fields" (Receipt Validation Programming Guide). The comments name the attributes, and say
/// which of them Apple does not document.
package struct AppReceipt: Hashable, Sendable {
    /// The maximum number of purchases.
    package static let maximumPurchases = 10_000

    /// 0. Not documented, but the only mark of the environment.
    package let type: ReceiptType
    /// 2.
    package let bundleID: BundleID
    /// 12.
    package let creationDate: Timestamp
    /// 17, in the order of the receipt, which is not chronological.
    package let purchases: [ReceiptPurchase]
    /// 1. Not documented. It is 0 in the sandbox and in Xcode.
    package let appAppleID: UInt64?
    /// 3: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on macOS.
    package let appVersion: FieldText?
    /// 19: the version that the customer got first; `1.0` in the sandbox. Missing from Xcode's receipts.
    package let originalAppVersion: FieldText?
    /// 21: the time at which a receipt of the Volume Purchase Program expires.
    package let expirationDate: Timestamp?
    /// 18. Not documented.
    package let originalPurchaseDate: Timestamp?
    /// 8. Not documented. In production, up to half an hour before ``creationDate``.
    package let unexplainedDate: Timestamp?
    /// 10. Not documented. For example `4+`.
    package let ageRating: FieldText?
    /// 4, 5 and the bytes of 2; nil unless all three are present.
    package let deviceHash: DeviceHash?
}

extension AppReceipt {
    /// nil if the receipt's type is unknown.
    package var environment: AppStoreEnvironment? { type.environmentName.map(AppStoreEnvironment.init) }
}

/// The kind of a receipt. Unknown values are kept.
package struct ReceiptType: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = Self(rawValue: "Production")
    package static let productionVolumePurchase = Self(rawValue: "ProductionVPP")
    package static let sandbox = Self(rawValue: "ProductionSandbox")
    package static let sandboxVolumePurchase = Self(rawValue: "ProductionVPPSandbox")
    package static let xcode = Self(rawValue: "Xcode")

    /// The environment as JWS payloads name it; nil for an unknown type.
    package var environmentName: String? {
        switch self {
        case .production, .productionVolumePurchase: "Production"
        case .sandbox, .sandboxVolumePurchase: "Sandbox"
        case .xcode: "Xcode"
        default: nil
        }
    }
}
