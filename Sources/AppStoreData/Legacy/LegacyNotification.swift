package import OfferCore
package import OfferEligibility

/// An App Store Server Notification, version 1, as posted. Apple calls it `responseBodyV1`.
///
/// It is not signed. The password authenticates the sender, and the receipt in it is signed separately: see
/// ``VerifiedLegacyNotification``. If a member only describes the purchase, an unreadable value counts as absent.
/// Unknown members are ignored.
///
/// Source: Apple, "responseBodyV1" and "unified_receipt" (App Store Server Notifications, deprecated).
package struct LegacyNotification: Sendable {
    /// Limits for reading the JSON of a body. A receipt lists up to 100 transactions of about 30 members each.
    package enum Limit {
        /// The maximum number of members in an object or elements in an array.
        package static let count = 256
        /// The maximum number of values in a body.
        package static let total = 8192
    }

    package let type: LegacyNotificationType
    /// The bundle ID. Apple calls it `bid`.
    package let bundleID: BundleID
    /// The environment; nil if the notification names none.
    package let environment: AppStoreEnvironment?
    /// The password, for comparison with the app's shared secret. ``content`` does not contain it.
    let password: Secret?
    /// `unified_receipt.latest_receipt`: base64, not yet verified.
    let latestReceipt: [UInt8]?
    package let originalTransactionID: UnverifiedTransactionID?
    package let autoRenews: Bool?
    package let autoRenewProductID: ProductID?
    package let expirationIntent: ExpirationIntent?
    /// `unified_receipt.pending_renewal_info`: one element per product.
    package let pendingRenewals: [LegacyPendingRenewal]
    /// All members except the password.
    let content: JSONObject

    /// Returns true if a body is a notification of version 1. A body with `signedPayload` is not.
    package static func isLegacy(_ members: JSONObject) -> Bool {
        members["notification_type"] != nil && members["signedPayload"] == nil
    }

    /// - Parameter members: the members of a body for which ``isLegacy(_:)`` returns true.
    package init(_ members: JSONObject) throws(PayloadError) {
        let reader = LegacyMembers(members)
        type = try reader.required("notification_type").field { utf8, name throws(FieldError) in
            LegacyNotificationType(rawValue: try FieldText(utf8: utf8, field: name, sizes: 1...64).description)
        }
        bundleID = try reader.required("bid").field(BundleID.init)
        let text = try reader["password"]?.text()
        password = text.map(Secret.init)
        let unified = try reader.object("unified_receipt")
        let named = try (reader["environment"] ?? unified?["environment"])?.text()
        environment = named.map(AppStoreEnvironment.init(legacy:))
        latestReceipt = try unified?["latest_receipt"]?.utf8()
        originalTransactionID = reader.transactionID("original_transaction_id").map(UnverifiedTransactionID.init)
        autoRenews = reader.flag("auto_renew_status")
        autoRenewProductID = reader.utf8("auto_renew_product_id").flatMap { try? ProductID(utf8: $0) }
        expirationIntent = reader.integer("expiration_intent").map(ExpirationIntent.init)
        pendingRenewals = unified.map { $0.objects("pending_renewal_info").map(LegacyPendingRenewal.init) } ?? []
        content = members.without(["password"])
    }
}

extension AppStoreEnvironment {
    /// - Parameter name: the name in version 1: `PROD`, but `Production` in the receipt.
    fileprivate init(legacy name: String) {
        self = name == "PROD" ? .production : AppStoreEnvironment(rawValue: name)
    }
}
