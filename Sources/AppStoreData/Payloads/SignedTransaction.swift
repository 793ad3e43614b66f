package import OfferCore
package import OfferEligibility

/// A purchase or a renewal, as the App Store signed it. Apple calls it `JWSTransactionDecodedPayload`.
package struct SignedTransaction: SignedPayload {
    package static let kind = PayloadKind.transaction

    package let transactionID: TransactionID
    /// The ID of a subscription's first transaction. It stays the same across renewals.
    package let originalTransactionID: TransactionID
    package let bundleID: BundleID
    package let productID: ProductID
    /// The purchase date. It may be later than ``signedDate``, because renewals are signed before they start.
    package let purchaseDate: Timestamp
    package let signedDate: Timestamp
    /// The environment, which is missing from data signed in 2021.
    package internal(set) var environment: AppStoreEnvironment?
    package internal(set) var type: ProductType?
    /// The number of items, or of the seats of this transaction.
    package internal(set) var quantity: Int64?
    package internal(set) var originalPurchaseDate: Timestamp?
    package internal(set) var expiresDate: Timestamp?
    /// The ID of a subscription period. All transactions that report the same period have the same ID.
    package internal(set) var webOrderLineItemID: String?
    package internal(set) var subscriptionGroupID: String?
    package internal(set) var appAccountToken: UUIDText?
    package internal(set) var appTransactionID: TransactionID?
    package internal(set) var ownership: OwnershipType?
    package internal(set) var reason: TransactionReason?
    package internal(set) var offer: AppliedOffer?
    package internal(set) var revocation: Revocation?
    package internal(set) var isUpgraded = false
    /// The price in thousandths of ``currency``, after the offer's discount. With ``seats``, it is the average price of one
    /// seat; otherwise, the price of the whole quantity.
    package internal(set) var price: Int64?
    package internal(set) var currency: String?
    package internal(set) var storefront: String?
    package internal(set) var storefrontID: String?
    package internal(set) var billingPlanType: BillingPlanType?
    package internal(set) var commitment: Commitment?
    package internal(set) var additionalTransactionReason: AdditionalTransactionReason?
    package internal(set) var seats: Seats?
    /// The original transaction ID before the subscription moved to the Advanced Commerce API.
    package internal(set) var previousOriginalTransactionID: TransactionID?
    package internal(set) var advancedCommerceInfo: JSONObject?
    /// The device verification. Like the nonce, it is present only in copies obtained on a device.
    package internal(set) var deviceVerification: String?
    package internal(set) var deviceVerificationNonce: String?
    /// The JSON as signed; nil if the transaction comes from a receipt.
    package internal(set) var json: [UInt8]?
    package internal(set) var source = TransactionSource.jws
}

extension SignedTransaction {
    enum Member: Int, PayloadMember {
        case additionalTransactionReason, advancedCommerceInfo, appAccountToken, appTransactionId, billingPlanType,
            bundleId, commitmentInfo,
            currency, deviceVerification, deviceVerificationNonce, environment, expiresDate, inAppOwnershipType,
            isUpgraded, multiSeatInfo, offerDiscountType, offerIdentifier, offerPeriod, offerType, originalPurchaseDate,
            originalTransactionId, previousOriginalTransactionId, price, productId, purchaseDate, quantity,
            revocationDate, revocationPercentage, revocationReason, revocationType, signedDate, storefront,
            storefrontId, subscriptionGroupIdentifier, transactionId, transactionReason, type, webOrderLineItemId
    }

    private static let index = MemberIndex<Member>()

    package init(_ payload: PayloadObject) throws(PayloadError) {
        try Self.kind.require(of: payload.members)
        var reader = PayloadReader(payload.members, Self.index)
        let environment = try reader[.environment]?.open(AppStoreEnvironment.self)
        reader.acceptsFractions = environment == .xcode
        self.init(
            transactionID: try reader.required(.transactionId).field(TransactionID.init),
            originalTransactionID: try reader.required(.originalTransactionId).field(TransactionID.init),
            bundleID: try reader.required(.bundleId).field(BundleID.init),
            productID: try reader.required(.productId).field(ProductID.init),
            purchaseDate: try reader.required(.purchaseDate).timestamp(),
            signedDate: try reader.required(.signedDate).timestamp())
        self.environment = environment
        try readPurchase(reader)
        try readCustomer(reader)
        try readPrice(reader)
        offer = try AppliedOffer(reader)
        revocation = try Revocation(reader)
        json = payload.json
    }

    private mutating func readPurchase(_ reader: PayloadReader<Member>) throws(PayloadError) {
        type = try reader[.type]?.open()
        quantity = try reader[.quantity]?.integer()
        originalPurchaseDate = try reader[.originalPurchaseDate]?.timestamp()
        expiresDate = try reader[.expiresDate]?.timestamp()
        webOrderLineItemID = try reader[.webOrderLineItemId]?.unlessEmpty?.text()
        subscriptionGroupID = try reader[.subscriptionGroupIdentifier]?.unlessEmpty?.text()
        reason = try reader[.transactionReason]?.open()
        isUpgraded = try reader[.isUpgraded]?.bool() ?? false
        previousOriginalTransactionID = try reader[.previousOriginalTransactionId]?.unlessEmpty?.field(
            TransactionID.init)
    }

    private mutating func readCustomer(_ reader: PayloadReader<Member>) throws(PayloadError) {
        appAccountToken = try reader[.appAccountToken]?.accountToken()
        appTransactionID = try reader[.appTransactionId]?.unlessEmpty?.field(TransactionID.init)
        ownership = try reader[.inAppOwnershipType]?.open()
        storefront = try reader[.storefront]?.unlessEmpty?.text()
        storefrontID = try reader[.storefrontId]?.unlessEmpty?.text()
        deviceVerification = try reader[.deviceVerification]?.text()
        deviceVerificationNonce = try reader[.deviceVerificationNonce]?.text()
    }

    private mutating func readPrice(_ reader: PayloadReader<Member>) throws(PayloadError) {
        price = try reader[.price]?.integer()
        currency = try reader[.currency]?.unlessEmpty?.text()
        billingPlanType = try reader[.billingPlanType]?.unlessEmpty?.open()
        commitment = try reader[.commitmentInfo].map { value throws(PayloadError) in try Commitment(value) }
        additionalTransactionReason = reader[.additionalTransactionReason]?.tentative { value throws(PayloadError) in
            try value.open()
        }
        seats = reader[.multiSeatInfo]?.tentative(Seats.init)
        advancedCommerceInfo = try reader[.advancedCommerceInfo]?.object()
    }
}

extension Revocation {
    fileprivate init?(_ reader: PayloadReader<SignedTransaction.Member>) throws(PayloadError) {
        let reason = try reader[.revocationReason]?.open(RevocationReason.self)
        let type = try reader[.revocationType]?.open(RevocationType.self)
        let percentage = try reader[.revocationPercentage]?.integer()
        guard let date = try reader[.revocationDate]?.timestamp() else { return nil }
        self.init(date: date, reason: reason, type: type, percentage: percentage)
    }
}

extension AppliedOffer {
    fileprivate init?(_ reader: PayloadReader<SignedTransaction.Member>) throws(PayloadError) {
        try self.init(
            type: reader[.offerType], identifier: reader[.offerIdentifier], discountType: reader[.offerDiscountType],
            period: reader[.offerPeriod])
    }
}
