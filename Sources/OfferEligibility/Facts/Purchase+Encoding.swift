import OfferCore

extension Purchase {
    /// The tags are stored in databases.
    private enum Tag {
        static let productID: UInt8 = 1
        static let purchaseDate: UInt8 = 2
        static let type: UInt8 = 3
        static let subscriptionGroupID: UInt8 = 4
        static let expiresDate: UInt8 = 5
        static let webOrderLineItemID: UInt8 = 6
        static let ownership: UInt8 = 7
        static let reason: UInt8 = 8
        static let isUpgraded: UInt8 = 9
        static let price: UInt8 = 10
        static let appAccountToken: UInt8 = 11
        static let appTransactionID: UInt8 = 12
        /// Tags 16 to 19.
        static let offer: UInt8 = 16
        /// Tags 20 to 23.
        static let revocation: UInt8 = 20
        static let currency: UInt8 = 24
        static let storefront: UInt8 = 25
        static let quantity: UInt8 = 26
        static let billingPlan: UInt8 = 27
        static let additionalReason: UInt8 = 28
        /// An object.
        static let commitment: UInt8 = 29
        /// An object.
        static let seats: UInt8 = 30
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.productID, productID.text.utf8)
        writer.write(Tag.purchaseDate, purchaseDate)
        writer.write(Tag.type, type?.rawValue)
        writer.write(Tag.subscriptionGroupID, subscriptionGroupID)
        writer.write(Tag.expiresDate, expiresDate)
        writer.write(Tag.webOrderLineItemID, webOrderLineItemID)
        writer.write(Tag.ownership, ownership?.rawValue)
        writer.write(Tag.reason, reason?.rawValue)
        writer.write(Tag.isUpgraded, isUpgraded ? true : nil)
        writer.write(Tag.price, price)
        writer.write(Tag.appAccountToken, appAccountToken?.utf8)
        writer.write(Tag.appTransactionID, appTransactionID?.text.utf8)
        offer?.write(to: &writer, from: Tag.offer)
        revocation?.write(to: &writer, from: Tag.revocation)
        writer.write(Tag.currency, currency)
        writer.write(Tag.storefront, storefront)
        writer.write(Tag.quantity, quantity)
        writer.write(Tag.billingPlan, billingPlan?.rawValue)
        writer.write(Tag.additionalReason, additionalReason?.rawValue)
        writer.write(Tag.commitment, commitment) { $1.write(to: &$0) }
        writer.write(Tag.seats, seats) { $1.write(to: &$0) }
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(
            productID: try reader.required(
                Tag.productID, reader.field(Tag.productID) { try ProductID(utf8: $0) }),
            purchaseDate: try reader.required(Tag.purchaseDate, reader.time(Tag.purchaseDate)))
        type = try reader.text(Tag.type).map(ProductType.init)
        subscriptionGroupID = try reader.text(Tag.subscriptionGroupID)
        expiresDate = try reader.time(Tag.expiresDate)
        webOrderLineItemID = try reader.text(Tag.webOrderLineItemID)
        ownership = try reader.text(Tag.ownership).map(OwnershipType.init)
        reason = try reader.text(Tag.reason).map(TransactionReason.init)
        isUpgraded = try reader.flag(Tag.isUpgraded) ?? false
        price = try reader.number(Tag.price)
        appAccountToken = try reader.field(Tag.appAccountToken, UUIDText.init(parsing:))
        appTransactionID = try reader.field(Tag.appTransactionID) { try TransactionID(utf8: $0) }
        offer = try AppliedOffer(reader, from: Tag.offer)
        revocation = try Revocation(reader, from: Tag.revocation)
        currency = try reader.text(Tag.currency)
        storefront = try reader.text(Tag.storefront)
        quantity = try reader.number(Tag.quantity)
        billingPlan = try reader.text(Tag.billingPlan).map(BillingPlanType.init)
        additionalReason = try reader.text(Tag.additionalReason).map(AdditionalTransactionReason.init)
        commitment = try reader.objects(Tag.commitment, Commitment.init).first
        seats = try reader.objects(Tag.seats, Seats.init).first
    }
}

extension AppliedOffer {
    /// - Parameter tag: the first of four tags.
    func write(to writer: inout FactWriter, from tag: UInt8) {
        writer.write(tag, type.rawValue)
        writer.write(tag + 1, identifier)
        writer.write(tag + 2, discountType?.rawValue)
        writer.write(tag + 3, period)
    }

    init?(_ reader: FactReader, from tag: UInt8) throws(FactEncodingError) {
        guard let type = try reader.number(tag) else { return nil }
        self.init(
            type: OfferType(rawValue: type), identifier: try reader.text(tag + 1),
            discountType: try reader.text(tag + 2).map(OfferDiscountType.init), period: try reader.text(tag + 3))
    }
}

extension Revocation {
    /// - Parameter tag: the first of four tags.
    fileprivate func write(to writer: inout FactWriter, from tag: UInt8) {
        writer.write(tag, date)
        writer.write(tag + 1, reason?.rawValue)
        writer.write(tag + 2, type?.rawValue)
        writer.write(tag + 3, percentage)
    }

    fileprivate init?(_ reader: FactReader, from tag: UInt8) throws(FactEncodingError) {
        guard let date = try reader.time(tag) else { return nil }
        self.init(
            date: date, reason: try reader.number(tag + 1).map(RevocationReason.init),
            type: try reader.text(tag + 2).map(RevocationType.init), percentage: try reader.number(tag + 3))
    }
}
