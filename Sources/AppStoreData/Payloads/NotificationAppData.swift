package import OfferCore
package import OfferEligibility

/// The app of a notification without a purchase. Apple calls it `appData`.
package struct NotificationAppData: Hashable, Sendable {
    package let bundleID: BundleID
    package let appAppleID: Int64?
    package let environment: AppStoreEnvironment?
    /// The compact JWS of an AppTransaction, not yet verified.
    package let signedAppTransactionInfo: [UInt8]?

    enum Member: Int, PayloadMember {
        case appAppleId, bundleId, environment, signedAppTransactionInfo
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        bundleID = try reader.required(.bundleId).field(BundleID.init)
        appAppleID = try reader[.appAppleId]?.integer()
        environment = try reader[.environment]?.open()
        signedAppTransactionInfo = try reader[.signedAppTransactionInfo]?.utf8()
    }
}
