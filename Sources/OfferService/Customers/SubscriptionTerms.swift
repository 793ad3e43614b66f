import OfferCore
import OfferEligibility

/// The price and the number of seats of a subscription, now and after the next renewal.
///
/// No rule reads these members. They answer support's questions about what a customer pays.
struct SubscriptionTerms {
    /// The transaction of the current period; nil if only a receipt lists it.
    private let purchase: Purchase?
    /// The newest renewal info.
    private let renewal: Renewal?

    init(of subscription: Subscription, in facts: SubscriberFacts) {
        let purchase = facts[SubscriberFact.Key(kind: .transaction, id: subscription.transactionID)]
        let renewal = facts[SubscriberFact.Key(kind: .renewalInfo, id: subscription.originalTransactionID)]
        self.purchase = if case .transaction(let value)? = purchase?.value { value } else { nil }
        self.renewal = if case .renewalInfo(let value)? = renewal?.value { value } else { nil }
    }

    /// Writes the members of the current period, and `next` for the next one if the App Store states anything about it.
    func write(to writer: inout JSONWriter) {
        writer.members(ofPrice: purchase?.price, purchase?.currency)
        if let seats = purchase?.seats {
            if let quantity = purchase?.quantity { writer.member("seats", quantity) }
            if let revoked = seats.revokedQuantity { writer.member("refundedSeats", revoked) }
        }
        guard let renewal, renewal.price != nil || renewal.quantity != nil || renewal.billingPlan != nil else { return }
        writer.object("next") { writer in
            writer.members(ofPrice: renewal.price, renewal.currency)
            if let quantity = renewal.quantity { writer.member("seats", quantity) }
            if let plan = renewal.billingPlan { writer.member("billingPlan", plan.rawValue) }
        }
    }
}

extension JSONWriter {
    /// Writes a price. Without a currency, it means nothing.
    fileprivate mutating func members(ofPrice price: Int64?, _ currency: String?) {
        guard let price, let currency else { return }
        member("price", price)
        member("currency", currency)
    }
}

extension RenewalChange {
    /// Writes a change with the names of the App Store's notification.
    func write(to writer: inout JSONWriter, of original: TransactionID, at date: Timestamp) {
        writer.member("type", type)
        if let subtype { writer.member("subtype", subtype) }
        writer.member("at", date.milliseconds)
        writer.member("originalTransactionID", utf8: original.text.utf8)
        writer.member("productID", utf8: renewal.productID.text.utf8)
        if let choice = renewal.choice { writer.member("autoRenews", choice == .on) }
        if let next = renewal.commitment?.autoRenewProductID ?? renewal.autoRenewProductID {
            writer.member("autoRenewProductID", utf8: next.text.utf8)
        }
        if let plan = renewal.billingPlan { writer.member("billingPlan", plan.rawValue) }
        if let quantity = renewal.quantity { writer.member("seats", quantity) }
    }
}
