package import OfferCore
package import OfferEligibility

/// Information about the next renewal of a subscription. Apple calls it `JWSRenewalInfoDecodedPayload`.
///
/// Renewal info names no app, so it proves nothing by itself. See ``SubscriptionRecord``.
package struct RenewalInfo: SignedPayload {
    package static let kind = PayloadKind.renewalInfo

    package let originalTransactionID: TransactionID
    package let productID: ProductID
    package let autoRenewStatus: AutoRenewStatus
    package let signedDate: Timestamp
    package internal(set) var environment: AppStoreEnvironment?
    /// The product of the next period.
    package internal(set) var autoRenewProductID: ProductID?
    /// The reason for the expiry. It is present only after expiry, and sometimes missing even then.
    package internal(set) var expirationIntent: ExpirationIntent?
    /// True during billing retry, including a grace period.
    package internal(set) var isInBillingRetryPeriod: Bool?
    package internal(set) var gracePeriodExpiresDate: Timestamp?
    /// The status of a price increase; nil if there is none.
    package internal(set) var priceIncreaseStatus: PriceIncreaseStatus?
    /// The offer of the next period.
    package internal(set) var offer: AppliedOffer?
    /// The next renewal date, which may be in the past.
    package internal(set) var renewalDate: Timestamp?
    /// The price in thousandths of ``currency``, with seats the average price of one seat. Both are absent while auto-renewal is off.
    package internal(set) var renewalPrice: Int64?
    package internal(set) var currency: String?
    package internal(set) var recentSubscriptionStartDate: Timestamp?
    /// The IDs of the win-back offers for which the customer is eligible, best offer first.
    package internal(set) var eligibleWinBackOfferIDs: [String] = []
    package internal(set) var appAccountToken: UUIDText?
    package internal(set) var appTransactionID: TransactionID?
    package internal(set) var renewalBillingPlanType: BillingPlanType?
    package internal(set) var commitment: CommitmentRenewal?
    /// The number of seats of the next period.
    package internal(set) var renewalQuantity: Int64?
    package internal(set) var renewalPriceTiers: [PriceTier] = []
    package internal(set) var advancedCommerceInfo: JSONObject?
    /// The JSON as signed.
    package internal(set) var json: [UInt8]
}

extension RenewalInfo {
    enum Member: Int, PayloadMember {
        case advancedCommerceInfo, appAccountToken, appTransactionId, autoRenewProductId, autoRenewStatus,
            commitmentInfo, currency, eligibleWinBackOfferIds, environment, expirationIntent, gracePeriodExpiresDate,
            isInBillingRetryPeriod, multiSeatInfo, offerDiscountType, offerIdentifier, offerPeriod, offerType,
            originalTransactionId,
            priceIncreaseStatus, productId, recentSubscriptionStartDate, renewalBillingPlanType, renewalDate,
            renewalPrice, renewalQuantity, signedDate
    }

    private static let index = MemberIndex<Member>()

    package init(_ payload: PayloadObject) throws(PayloadError) {
        try Self.kind.require(of: payload.members)
        var reader = PayloadReader(payload.members, Self.index)
        let environment = try reader[.environment]?.open(AppStoreEnvironment.self)
        reader.acceptsFractions = environment == .xcode
        self.init(
            originalTransactionID: try reader.required(.originalTransactionId).field(TransactionID.init),
            productID: try reader.required(.productId).field(ProductID.init),
            autoRenewStatus: try reader.required(.autoRenewStatus).open(),
            signedDate: try reader.required(.signedDate).timestamp(), json: payload.json)
        self.environment = environment
        try readState(reader)
        try readRenewal(reader)
        appAccountToken = try reader[.appAccountToken]?.accountToken()
        appTransactionID = try reader[.appTransactionId]?.unlessEmpty?.field(TransactionID.init)
    }

    private mutating func readState(_ reader: PayloadReader<Member>) throws(PayloadError) {
        expirationIntent = try reader[.expirationIntent]?.open()
        isInBillingRetryPeriod = try reader[.isInBillingRetryPeriod]?.bool()
        gracePeriodExpiresDate = try reader[.gracePeriodExpiresDate]?.timestamp()
        priceIncreaseStatus = try reader[.priceIncreaseStatus]?.open()
        recentSubscriptionStartDate = try reader[.recentSubscriptionStartDate]?.timestamp()
        eligibleWinBackOfferIDs = try reader[.eligibleWinBackOfferIds]?.texts() ?? []
    }

    private mutating func readRenewal(_ reader: PayloadReader<Member>) throws(PayloadError) {
        autoRenewProductID = try reader[.autoRenewProductId]?.unlessEmpty?.field(ProductID.init)
        renewalDate = try reader[.renewalDate]?.timestamp()
        renewalPrice = try reader[.renewalPrice]?.integer()
        currency = try reader[.currency]?.unlessEmpty?.text()
        renewalBillingPlanType = try reader[.renewalBillingPlanType]?.open()
        commitment = try reader[.commitmentInfo].map { value throws(PayloadError) in try CommitmentRenewal(value) }
        renewalQuantity = reader[.renewalQuantity]?.tentative { value throws(PayloadError) in try value.integer() }
        renewalPriceTiers = reader[.multiSeatInfo]?.tentative(Seats.renewalPriceTiers) ?? []
        advancedCommerceInfo = try reader[.advancedCommerceInfo]?.object()
        offer = try AppliedOffer(
            type: reader[.offerType], identifier: reader[.offerIdentifier], discountType: reader[.offerDiscountType],
            period: reader[.offerPeriod])
    }
}
