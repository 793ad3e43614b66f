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
    /// The price of the next period in thousandths of ``currency``, with seats the average price of one seat. Absent while
    /// auto-renewal is off.
    package var price: Int64?
    package var currency: String?
    /// The billing plan of the next period.
    package var billingPlan: BillingPlanType?
    /// Present only during a commitment.
    package var commitment: CommitmentRenewal?
    /// The number of seats of the next period.
    package var quantity: Int64?
    package var priceTiers: [PriceTier] = []
    /// The best offer comes first.
    package var eligibleWinBackOfferIDs: [String] = []
    /// The account of future renewals.
    package var appAccountToken: UUIDText?
    package var appTransactionID: TransactionID?

    /// The customer's choice: during a commitment, that for its end; nil if the App Store does not state it.
    package var choice: AutoRenewStatus? {
        if let commitment { commitment.autoRenewStatus } else { autoRenewStatus }
    }

    package init(productID: ProductID, autoRenewStatus: AutoRenewStatus) {
        self.productID = productID
        self.autoRenewStatus = autoRenewStatus
    }
}
