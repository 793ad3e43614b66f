import OfferCore
import OfferEligibility

// Members that are unknown or do not apply are left out. Times are in milliseconds.

extension Subscription {
    /// Writes the members of a subscription. `settled` is written only if it is false.
    /// - Parameter terms: written for support and backends. An app knows them from StoreKit.
    func write(to writer: inout JSONWriter, _ terms: SubscriptionTerms? = nil) {
        writer.member("originalTransactionID", utf8: originalTransactionID.text.utf8)
        writer.member("transactionID", utf8: transactionID.text.utf8)
        writer.member("productID", utf8: productID.text.utf8)
        if let subscriptionGroupID { writer.member("subscriptionGroupID", subscriptionGroupID) }
        writer.member("environment", environment.rawValue)
        writer.member("status", status.rawValue)
        if !settled { writer.member("settled", false) }
        if let autoRenews { writer.member("autoRenews", autoRenews) }
        if let autoRenewProductID { writer.member("autoRenewProductID", utf8: autoRenewProductID.text.utf8) }
        if let billingPlan { writer.member("billingPlan", billingPlan.rawValue) }
        if let commitment {
            // Others pay nothing.
            let isPayer = ownership == nil || ownership == .purchased
            writer.object("commitment") { commitment.write(to: &$0, hasPrice: isPayer) }
        }
        terms?.write(to: &writer)
        writer.member("expiresAt", expiresAt)
        writer.member("gracePeriodExpiresAt", gracePeriodExpiresAt)
        if settled { writeEndAndRun(to: &writer) }
        writer.member("lastPeriod", lastPeriod.rawValue)
        if let offerID { writer.member("offerID", offerID) }
        if let pendingOffer { writer.object("pendingOffer", pendingOffer.write) }
        if let priceIncrease { writer.member("priceIncrease", priceIncrease.rawValue) }
        if let ownership { writer.member("ownership", ownership.rawValue) }
        if !refunds.isEmpty { writer.objects("refunds", refunds) { $1.write(to: &$0) } }
        if refundPending { writer.member("refundPending", true) }
        if !winBackOffers.isEmpty { writer.member("winBackOffers", winBackOffers) }
    }

    /// Writes the end of the subscription and its current run. The run is left out if its first purchase is unknown,
    /// because it may be longer than its known part.
    private func writeEndAndRun(to writer: inout JSONWriter) {
        writer.member("endedAt", endedAt)
        if let endedBecause { writer.member("endedBecause", endedBecause.rawValue) }
        if isPaidTimeWhole, paidFor >= .days(1) { writer.member("paidDays", Int64(paidFor / .days(1))) }
        guard isRunWhole else { return }
        writer.member("renewals", Int64(renewals))
        writer.member("subscribedSince", subscribedSince)
    }
}

extension Commitment {
    fileprivate func write(to writer: inout JSONWriter, hasPrice: Bool) {
        if let billingPeriodNumber { writer.member("billingPeriod", billingPeriodNumber) }
        if let totalBillingPeriods { writer.member("totalBillingPeriods", totalBillingPeriods) }
        if hasPrice, let price { writer.member("price", price) }
        writer.member("expiresAt", expiresDate)
    }
}

extension Refund {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("transactionID", utf8: transactionID.text.utf8)
        writer.member("productID", utf8: productID.text.utf8)
        writer.member("at", at)
        if let reason { writer.member("reason", reason.rawValue) }
        if let percentage { writer.member("percentage", percentage) }
    }
}

extension Redemption {
    func write(to writer: inout JSONWriter) {
        writer.member("type", Subscription.PeriodKind(AppliedOffer(type: type)).rawValue)
        writer.member("offerID", offerID)
        writer.member("productID", utf8: productID.text.utf8)
        if let transactionID { writer.member("transactionID", utf8: transactionID.text.utf8) }
        writer.member("at", at)
    }
}

extension AppliedOffer {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("type", Subscription.PeriodKind(self).rawValue)
        if let identifier { writer.member("offerID", identifier) }
    }
}

extension JSONWriter {
    /// Writes a time, unless it is nil.
    fileprivate mutating func member(_ name: String, _ time: Timestamp?) {
        if let time { member(name, time.milliseconds) }
    }
}
