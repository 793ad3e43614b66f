import OfferCore
import OfferEligibility

extension Purchase {
    init(_ transaction: SignedTransaction) {
        self.init(productID: transaction.productID, purchaseDate: transaction.purchaseDate)
        type = transaction.type
        subscriptionGroupID = transaction.subscriptionGroupID
        expiresDate = transaction.expiresDate
        webOrderLineItemID = transaction.webOrderLineItemID
        ownership = transaction.ownership
        reason = transaction.reason
        offer = transaction.offer
        revocation = transaction.revocation
        isUpgraded = transaction.isUpgraded
        price = transaction.price
        currency = transaction.currency
        storefront = transaction.storefront
        quantity = transaction.quantity
        billingPlan = transaction.billingPlanType
        commitment = transaction.commitment
        additionalReason = transaction.additionalTransactionReason
        seats = transaction.seats
        appAccountToken = transaction.appAccountToken
        appTransactionID = transaction.appTransactionID
    }
}
