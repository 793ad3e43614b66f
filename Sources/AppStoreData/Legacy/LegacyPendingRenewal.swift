import OfferCore
package import OfferEligibility

/// The next renewal of a product, according to a notification of version 1. It is not signed.
package struct LegacyPendingRenewal: Hashable, Sendable {
    package let originalTransactionID: UnverifiedTransactionID?
    /// True if a billing grace period applies or has applied to the failed renewal.
    package let hasGracePeriod: Bool
    /// The customer's consent to a price increase; nil if none was announced.
    package let priceConsent: PriceIncreaseStatus?

    init(_ members: LegacyMembers) {
        originalTransactionID = members.transactionID("original_transaction_id").map(UnverifiedTransactionID.init)
        hasGracePeriod = members.integer("grace_period_expires_date_ms") != nil
        priceConsent = members.integer("price_consent_status").map(PriceIncreaseStatus.init)
    }
}
