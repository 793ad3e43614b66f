import OfferCore
import OfferEligibility

/// The price and the number of seats of a subscription, now and after the next renewal.
///
/// No rule reads these members. They answer support's questions about what a customer pays.
struct SubscriptionTerms {
    /// The transaction of the current period; nil if only a receipt lists it.
    private let purchase: Purchase?
    /// The transactions of seats in the current period: the first one, and those that added seats to it.
    private let seats: [Purchase]
    /// The newest renewal info.
    private let renewal: Renewal?

    init(of subscription: Subscription, in facts: SubscriberFacts) {
        let fact = facts[SubscriberFact.Key(kind: .transaction, id: subscription.transactionID)]
        let renewal = facts[SubscriberFact.Key(kind: .renewalInfo, id: subscription.originalTransactionID)]
        let purchase: Purchase? = if case .transaction(let value)? = fact?.value { value } else { nil }
        self.purchase = purchase
        self.renewal = if case .renewalInfo(let value)? = renewal?.value { value } else { nil }
        seats = facts.filter { $0.originalTransactionID == subscription.originalTransactionID }.compactMap { fact in
            guard let purchase, case .transaction(let value) = fact.value, value.seats != nil,
                value.productID == purchase.productID, value.ownership == purchase.ownership,
                value.expiresDate == purchase.expiresDate
            else { return nil }
            return value
        }
    }

    /// The price of the period in thousandths; of seats, the average of one of them.
    private var price: Int64? {
        guard seats.count > 1 else { return purchase?.price }
        let items = seats.compactMap { item in
            item.price.flatMap { price in item.quantity.map { (price: Double(price), count: Double($0)) } }
        }
        let count = items.reduce(0) { $0 + $1.count }
        guard items.count == seats.count, Set(seats.map(\.currency)).count == 1, count > 0 else { return nil }
        return Int64(exactly: (items.reduce(0) { $0 + $1.price * $1.count } / count).rounded())
    }

    /// Writes the members of the current period, and `next` for the next one if the App Store states anything about it.
    func write(to writer: inout JSONWriter) {
        writer.members(ofPrice: price, purchase?.currency)
        if !seats.isEmpty {
            let quantities = seats.compactMap(\.quantity)
            if quantities.count == seats.count { writer.member("seats", quantities.reduce(0, &+)) }
            let refunded = seats.compactMap { item in
                item.revocation == nil ? item.seats?.revokedQuantity : item.quantity
            }
            if !refunded.isEmpty { writer.member("refundedSeats", refunded.reduce(0, &+)) }
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
