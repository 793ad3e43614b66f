package import OfferCore
package import OfferEligibility

/// The contents of an app receipt, as signed at ``creationDate``.
///
/// Source: Apple, "Receipt fields" (Receipt Validation Programming Guide). The comments name the attributes and state
/// which of them Apple does not document.
package struct AppReceipt: Hashable, Sendable {
    /// The maximum number of purchases.
    package static let maximumPurchases = 10_000

    /// Attribute 0. Not documented, but nothing else identifies the environment.
    package let type: ReceiptType
    /// Attribute 2.
    package let bundleID: BundleID
    /// Attribute 12.
    package let creationDate: Timestamp
    /// Attribute 17, in the order of the receipt, which is not chronological.
    package let purchases: [ReceiptPurchase]
    /// Attribute 1. Not documented. It is 0 in the sandbox and in Xcode.
    package let appAppleID: UInt64?
    /// Attribute 3: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on macOS.
    package let appVersion: FieldText?
    /// Attribute 19: the version that the customer first obtained; `1.0` in the sandbox. Xcode's receipts lack it.
    package let originalAppVersion: FieldText?
    /// Attribute 21: the time at which a receipt of the Volume Purchase Program expires.
    package let expirationDate: Timestamp?
    /// Attribute 18. Not documented.
    package let originalPurchaseDate: Timestamp?
    /// Attribute 8. Not documented. In production, it is up to half an hour before ``creationDate``.
    package let unexplainedDate: Timestamp?
    /// Attribute 10, such as `4+`. Not documented.
    package let ageRating: FieldText?
    /// Attributes 4 and 5 and the bytes of attribute 2; nil unless all three are present.
    package let deviceHash: DeviceHash?
}

extension AppReceipt {
    /// The environment; nil if the receipt's type is unknown.
    package var environment: AppStoreEnvironment? { type.environmentName.map(AppStoreEnvironment.init) }
}

/// The type of a receipt. Unknown values are kept.
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
