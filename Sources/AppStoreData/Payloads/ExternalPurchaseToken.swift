package import OfferCore
package import OfferEligibility

/// A token for reporting purchases outside the App Store.
package struct ExternalPurchaseToken: Hashable, Sendable {
    package let bundleID: BundleID
    package let appAppleID: Int64?
    package let externalPurchaseID: String
    package let tokenCreationDate: Timestamp?
    package let tokenExpirationDate: Timestamp?
    package let tokenType: String?

    /// The environment. Apple does not name it, but the IDs of sandbox tokens begin with `SANDBOX`.
    package var environment: AppStoreEnvironment {
        externalPurchaseID.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production
    }

    enum Member: Int, PayloadMember {
        case appAppleId, bundleId, externalPurchaseId, tokenCreationDate, tokenExpirationDate, tokenType
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        bundleID = try reader.required(.bundleId).field(BundleID.init)
        appAppleID = try reader[.appAppleId]?.integer()
        externalPurchaseID = try reader.required(.externalPurchaseId).text()
        tokenCreationDate = try reader[.tokenCreationDate]?.timestamp()
        tokenExpirationDate = try reader[.tokenExpirationDate]?.timestamp()
        tokenType = try reader[.tokenType]?.text()
    }
}
