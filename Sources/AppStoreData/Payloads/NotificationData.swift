package import OfferCore
package import OfferEligibility

/// The app and the purchase of a notification. Apple calls it `data`.
package struct NotificationData: Hashable, Sendable {
    package let bundleID: BundleID
    /// The app's Apple ID. Apple documents it only for production. In the sandbox, it is missing only from `TEST`.
    package let appAppleID: Int64?
    package let environment: AppStoreEnvironment?
    /// The version of the app.
    package let bundleVersion: String?
    /// A compact JWS, not yet verified. The transaction need not be the subscription's latest.
    package let signedTransactionInfo: [UInt8]?
    /// A compact JWS, not yet verified.
    package let signedRenewalInfo: [UInt8]?
    /// The state of the subscription, not of the transaction.
    package let status: SubscriptionStatus?
    package let consumptionRequestReason: ConsumptionRequestReason?

    enum Member: Int, PayloadMember {
        case appAppleId, bundleId, bundleVersion, consumptionRequestReason, environment, signedRenewalInfo,
            signedTransactionInfo, status
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        bundleID = try reader.required(.bundleId).field(BundleID.init)
        appAppleID = try reader[.appAppleId]?.integer()
        environment = try reader[.environment]?.open()
        bundleVersion = try reader[.bundleVersion]?.text()
        signedTransactionInfo = try reader[.signedTransactionInfo]?.utf8()
        signedRenewalInfo = try reader[.signedRenewalInfo]?.utf8()
        status = try reader[.status]?.open()
        consumptionRequestReason = try reader[.consumptionRequestReason]?.open()
    }
}

/// The customer's reason for requesting a refund.
package struct ConsumptionRequestReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let unintendedPurchase = Self(rawValue: "UNINTENDED_PURCHASE")
    package static let fulfillmentIssue = Self(rawValue: "FULFILLMENT_ISSUE")
    package static let unsatisfiedWithPurchase = Self(rawValue: "UNSATISFIED_WITH_PURCHASE")
    package static let legal = Self(rawValue: "LEGAL")
    package static let other = Self(rawValue: "OTHER")
}
