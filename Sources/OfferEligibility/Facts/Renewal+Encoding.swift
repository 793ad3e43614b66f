import OfferCore

extension Renewal {
    /// The tags are stored in databases.
    private enum Tag {
        static let productID: UInt8 = 1
        static let autoRenewStatus: UInt8 = 2
        static let autoRenewProductID: UInt8 = 3
        static let renewalDate: UInt8 = 4
        static let expirationIntent: UInt8 = 5
        static let isInBillingRetryPeriod: UInt8 = 6
        static let gracePeriodExpiresDate: UInt8 = 7
        static let priceIncreaseStatus: UInt8 = 8
        /// Once for each offer.
        static let eligibleWinBackOfferID: UInt8 = 9
        static let appAccountToken: UInt8 = 11
        static let appTransactionID: UInt8 = 12
        /// Tags 16 to 19.
        static let offer: UInt8 = 16
        static let price: UInt8 = 20
        static let currency: UInt8 = 21
        static let billingPlan: UInt8 = 22
        /// An object.
        static let commitment: UInt8 = 23
        static let quantity: UInt8 = 24
        /// One object for each tier.
        static let priceTier: UInt8 = 25
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.productID, productID.text.utf8)
        writer.write(Tag.autoRenewStatus, autoRenewStatus.rawValue)
        writer.write(Tag.autoRenewProductID, autoRenewProductID?.text.utf8)
        writer.write(Tag.renewalDate, renewalDate)
        writer.write(Tag.expirationIntent, expirationIntent?.rawValue)
        writer.write(Tag.isInBillingRetryPeriod, isInBillingRetryPeriod)
        writer.write(Tag.gracePeriodExpiresDate, gracePeriodExpiresDate)
        writer.write(Tag.priceIncreaseStatus, priceIncreaseStatus?.rawValue)
        for id in eligibleWinBackOfferIDs { writer.write(Tag.eligibleWinBackOfferID, id) }
        writer.write(Tag.appAccountToken, appAccountToken?.utf8)
        writer.write(Tag.appTransactionID, appTransactionID?.text.utf8)
        offer?.write(to: &writer, from: Tag.offer)
        writer.write(Tag.price, price)
        writer.write(Tag.currency, currency)
        writer.write(Tag.billingPlan, billingPlan?.rawValue)
        writer.write(Tag.commitment, commitment) { $1.write(to: &$0) }
        writer.write(Tag.quantity, quantity)
        for tier in priceTiers { writer.write(Tag.priceTier, tier) { $1.write(to: &$0) } }
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(
            productID: try reader.required(
                Tag.productID, reader.field(Tag.productID) { try ProductID(utf8: $0) }),
            autoRenewStatus: AutoRenewStatus(
                rawValue: try reader.required(Tag.autoRenewStatus, reader.number(Tag.autoRenewStatus))))
        autoRenewProductID = try reader.field(Tag.autoRenewProductID) { try ProductID(utf8: $0) }
        renewalDate = try reader.time(Tag.renewalDate)
        expirationIntent = try reader.number(Tag.expirationIntent).map(ExpirationIntent.init)
        isInBillingRetryPeriod = try reader.flag(Tag.isInBillingRetryPeriod)
        gracePeriodExpiresDate = try reader.time(Tag.gracePeriodExpiresDate)
        priceIncreaseStatus = try reader.number(Tag.priceIncreaseStatus).map(PriceIncreaseStatus.init)
        eligibleWinBackOfferIDs = try reader.texts(Tag.eligibleWinBackOfferID)
        appAccountToken = try reader.field(Tag.appAccountToken, UUIDText.init(parsing:))
        appTransactionID = try reader.field(Tag.appTransactionID) { try TransactionID(utf8: $0) }
        offer = try AppliedOffer(reader, from: Tag.offer)
        price = try reader.number(Tag.price)
        currency = try reader.text(Tag.currency)
        billingPlan = try reader.text(Tag.billingPlan).map(BillingPlanType.init)
        commitment = try reader.objects(Tag.commitment, CommitmentRenewal.init).first
        quantity = try reader.number(Tag.quantity)
        priceTiers = try reader.objects(Tag.priceTier, PriceTier.init)
    }
}
