import OfferCore
import OfferEligibility

extension VerifiedReceipt {
    /// The purchases, in the type that represents a decoded JWS. Each has the date of the receipt.
    package var transactions: [SignedTransaction] {
        receipt.purchases.map { SignedTransaction($0, of: receipt) }
    }
}

extension SignedTransaction {
    fileprivate init(_ purchase: ReceiptPurchase, of receipt: AppReceipt) {
        self.init(
            transactionID: purchase.transactionID,
            // Xcode omits the original transaction ID.
            originalTransactionID: purchase.originalTransactionID ?? purchase.transactionID,
            bundleID: receipt.bundleID, productID: purchase.productID, purchaseDate: purchase.purchaseDate,
            signedDate: receipt.creationDate)
        source = .receipt
        environment = receipt.environment
        type = purchase.productType.flatMap(ProductType.init)
        quantity = purchase.quantity.flatMap { Int64(exactly: $0) }
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expirationDate
        webOrderLineItemID = purchase.webOrderLineItemID.flatMap { $0 == 0 ? nil : String($0) }
        offer = AppliedOffer(purchase)
        revocation = purchase.cancellationDate.map { Revocation(date: $0) }
    }
}

extension AppliedOffer {
    /// Finds the offer of a purchase. Receipts do not mark offer codes or win-back offers.
    fileprivate init?(_ purchase: ReceiptPurchase) {
        let discountType: OfferDiscountType? = purchase.isInTrialPeriod == true ? .freeTrial : nil
        if let offer = purchase.promotionalOfferID {
            self.init(type: .promotional, identifier: offer.text.description, discountType: discountType)
        } else if purchase.isInIntroductoryPricePeriod == true || discountType != nil {
            self.init(type: .introductory, discountType: discountType)
        } else {
            return nil
        }
    }
}

extension ProductType {
    fileprivate init?(_ number: ReceiptProductType) {
        switch number {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewingSubscription: self = .nonRenewingSubscription
        case .autoRenewableSubscription: self = .autoRenewableSubscription
        default: return nil
        }
    }
}
