package import OfferCore

/// A purchase in an app receipt, as of the receipt's creation. Later renewals and refunds are missing.
///
/// Source: Apple, "Receipt fields" (Receipt Validation Programming Guide). The comments name the attributes and state
/// which of them Apple does not document.
package struct ReceiptPurchase: Hashable, Sendable {
    /// Attribute 1702.
    package let productID: ProductID
    /// Attribute 1703. Xcode numbers transactions from 0.
    package let transactionID: TransactionID
    /// Attribute 1704.
    package let purchaseDate: Timestamp
    /// Attribute 1705. Xcode's receipts lack it.
    package let originalTransactionID: TransactionID?
    /// Attribute 1706.
    package let originalPurchaseDate: Timestamp?
    /// Attribute 1701.
    package let quantity: UInt64?
    /// Attribute 1708. Only subscriptions have an expiration date.
    package let expirationDate: Timestamp?
    /// Attribute 1711. It is 0 for purchases other than subscriptions.
    package let webOrderLineItemID: UInt64?
    /// Attribute 1712: the time of a refund or of the end of family sharing.
    package let cancellationDate: Timestamp?
    /// Attribute 1719.
    package let isInIntroductoryPricePeriod: Bool?
    /// Attribute 1713. Not documented with this number.
    package let isInTrialPeriod: Bool?
    /// Attribute 1707. Not documented.
    package let productType: ReceiptProductType?
    /// Attribute 1721. Not documented.
    package let promotionalOfferID: OfferID?
}

/// The number of a product type in receipts. Apple does not document the numbers.
package struct ReceiptProductType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let nonConsumable = Self(rawValue: 0)
    package static let consumable = Self(rawValue: 1)
    package static let nonRenewingSubscription = Self(rawValue: 2)
    package static let autoRenewableSubscription = Self(rawValue: 3)
    package static let freeSubscription = Self(rawValue: 4)
}

extension ReceiptPurchase {
    enum Name: UInt64 {
        case quantity = 1701
        case productID = 1702
        case transactionID = 1703
        case purchaseDate = 1704
        case originalTransactionID = 1705
        case originalPurchaseDate = 1706
        case productType = 1707
        case expirationDate = 1708
        case webOrderLineItemID = 1711
        case cancellationDate = 1712
        case isInTrialPeriod = 1713
        case isInIntroductoryPricePeriod = 1719
        case promotionalOfferID = 1721
    }

    /// - Parameter value: the value of attribute 17.
    init(_ value: ArraySlice<UInt8>) throws(ReceiptPayloadError) {
        let fields = try Self.fields(of: value)
        productID = try fields.required(.productID, fields.field(.productID, ProductID.init))
        transactionID = try fields.required(.transactionID, fields.field(.transactionID, TransactionID.init))
        purchaseDate = try fields.required(.purchaseDate, fields.date(.purchaseDate))
        originalTransactionID = try fields.field(.originalTransactionID, TransactionID.init)
        originalPurchaseDate = try fields.date(.originalPurchaseDate)
        quantity = try fields.number(.quantity)
        expirationDate = try fields.date(.expirationDate)
        webOrderLineItemID = try fields.number(.webOrderLineItemID)
        cancellationDate = try fields.date(.cancellationDate)
        isInIntroductoryPricePeriod = try fields.flag(.isInIntroductoryPricePeriod)
        isInTrialPeriod = try fields.flag(.isInTrialPeriod)
        productType = try fields.number(.productType).map(ReceiptProductType.init)
        promotionalOfferID = try fields.field(.promotionalOfferID, OfferID.init)
    }

    static func fields(of value: ArraySlice<UInt8>) throws(ReceiptPayloadError) -> ReceiptFields<Name> {
        var fields = ReceiptFields<Name>()
        try ReceiptAttribute.readAll(value) { attribute throws(ReceiptPayloadError) in
            guard let name = Name(rawValue: attribute.type) else { return }
            try fields.add(name, attribute.value)
        }
        return fields
    }
}
