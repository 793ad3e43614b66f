package import OfferCore

/// What a renewal info says, as far as state and decisions need it.
package struct Renewal: Hashable, Sendable {
    package let productID: ProductID
    package let autoRenewStatus: AutoRenewStatus
    /// The product of the next period.
    package var autoRenewProductID: ProductID?
    /// Missing from data signed before mid-2023. May be in the past.
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
    /// The account of the coming renewals.
    package var appAccountToken: UUIDText?
    package var appTransactionID: TransactionID?

    package init(productID: ProductID, autoRenewStatus: AutoRenewStatus) {
        self.productID = productID
        self.autoRenewStatus = autoRenewStatus
    }
}
