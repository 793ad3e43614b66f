package import OfferCore

/// The members of a renewal info that subscriber states and decisions need.
package struct Renewal: Hashable, Sendable {
    package let productID: ProductID
    package let autoRenewStatus: AutoRenewStatus
    /// The product of the next period.
    package var autoRenewProductID: ProductID?
    /// nil in data signed before mid-2023. The date may be in the past.
    package var renewalDate: Timestamp?
    package var expirationIntent: ExpirationIntent?
    /// True during a grace period too.
    package var isInBillingRetryPeriod: Bool?
    package var gracePeriodExpiresDate: Timestamp?
    package var priceIncreaseStatus: PriceIncreaseStatus?
    /// The offer of the next period.
    package var offer: AppliedOffer?
    /// The best offer comes first.
    package var eligibleWinBackOfferIDs: [String] = []
    /// The account of future renewals.
    package var appAccountToken: UUIDText?
    package var appTransactionID: TransactionID?

    package init(productID: ProductID, autoRenewStatus: AutoRenewStatus) {
        self.productID = productID
        self.autoRenewStatus = autoRenewStatus
    }
}
