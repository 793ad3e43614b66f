import OfferCore

/// The tags of the objects inside purchases and renewals are stored in databases.

extension Commitment {
    private enum Tag {
        static let billingPeriodNumber: UInt8 = 1
        static let totalBillingPeriods: UInt8 = 2
        static let expiresDate: UInt8 = 3
        static let price: UInt8 = 4
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.billingPeriodNumber, billingPeriodNumber)
        writer.write(Tag.totalBillingPeriods, totalBillingPeriods)
        writer.write(Tag.expiresDate, expiresDate)
        writer.write(Tag.price, price)
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(
            billingPeriodNumber: try reader.number(Tag.billingPeriodNumber),
            totalBillingPeriods: try reader.number(Tag.totalBillingPeriods),
            expiresDate: try reader.time(Tag.expiresDate), price: try reader.number(Tag.price))
    }
}

extension CommitmentRenewal {
    private enum Tag {
        static let autoRenewProductID: UInt8 = 1
        static let autoRenewStatus: UInt8 = 2
        static let billingPlanType: UInt8 = 3
        static let date: UInt8 = 4
        static let price: UInt8 = 5
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.autoRenewProductID, autoRenewProductID?.text.utf8)
        writer.write(Tag.autoRenewStatus, autoRenewStatus?.rawValue)
        writer.write(Tag.billingPlanType, billingPlanType?.rawValue)
        writer.write(Tag.date, date)
        writer.write(Tag.price, price)
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(
            autoRenewProductID: try reader.field(Tag.autoRenewProductID) { try ProductID(utf8: $0) },
            autoRenewStatus: try reader.number(Tag.autoRenewStatus).map(AutoRenewStatus.init),
            billingPlanType: try reader.text(Tag.billingPlanType).map(BillingPlanType.init),
            date: try reader.time(Tag.date), price: try reader.number(Tag.price))
    }
}

extension Seats {
    private enum Tag {
        static let invitationManagement: UInt8 = 1
        static let revokedQuantity: UInt8 = 2
        /// One object for each tier.
        static let priceTier: UInt8 = 3
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.invitationManagement, invitationManagement?.rawValue)
        writer.write(Tag.revokedQuantity, revokedQuantity)
        for tier in priceTiers { writer.write(Tag.priceTier, tier) { $1.write(to: &$0) } }
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(
            priceTiers: try reader.objects(Tag.priceTier, PriceTier.init),
            invitationManagement: try reader.text(Tag.invitationManagement).map(InvitationManagement.init),
            revokedQuantity: try reader.number(Tag.revokedQuantity))
    }
}

extension PriceTier {
    private enum Tag {
        static let price: UInt8 = 1
        static let quantity: UInt8 = 2
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.price, price)
        writer.write(Tag.quantity, quantity)
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(price: try reader.number(Tag.price), quantity: try reader.number(Tag.quantity))
    }
}
