import OfferCore
import OfferEligibility

extension Renewal {
    init(_ info: RenewalInfo) {
        self.init(productID: info.productID, autoRenewStatus: info.autoRenewStatus)
        autoRenewProductID = info.autoRenewProductID
        renewalDate = info.renewalDate
        expirationIntent = info.expirationIntent
        isInBillingRetryPeriod = info.isInBillingRetryPeriod
        gracePeriodExpiresDate = info.gracePeriodExpiresDate
        priceIncreaseStatus = info.priceIncreaseStatus
        offer = info.offer
        price = info.renewalPrice
        currency = info.currency
        billingPlan = info.renewalBillingPlanType
        commitment = info.commitment
        quantity = info.renewalQuantity
        priceTiers = info.renewalPriceTiers
        eligibleWinBackOfferIDs = info.eligibleWinBackOfferIDs
        appAccountToken = info.appAccountToken
        appTransactionID = info.appTransactionID
    }
}
