package import OfferCore
package import OfferEligibility

/// The result of extending the renewal dates of many subscriptions. Apple calls it `summary`.
package struct RenewalExtensionSummary: Hashable, Sendable {
    package let bundleID: BundleID
    package let appAppleID: Int64?
    package let environment: AppStoreEnvironment?
    package let requestIdentifier: String?
    package let productID: ProductID?
    /// The storefronts; nil means all storefronts.
    package let storefrontCountryCodes: [String]?
    package let succeededCount: Int64?
    package let failedCount: Int64?

    enum Member: Int, PayloadMember {
        case appAppleId, bundleId, environment, failedCount, productId, requestIdentifier, storefrontCountryCodes,
            succeededCount
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        bundleID = try reader.required(.bundleId).field(BundleID.init)
        appAppleID = try reader[.appAppleId]?.integer()
        environment = try reader[.environment]?.open()
        requestIdentifier = try reader[.requestIdentifier]?.text()
        productID = try reader[.productId]?.field(ProductID.init)
        storefrontCountryCodes = try reader[.storefrontCountryCodes]?.texts()
        succeededCount = try reader[.succeededCount]?.integer()
        failedCount = try reader[.failedCount]?.integer()
    }
}
