import OfferCore
package import OfferEligibility

/// The price and the seats of a subscription, now and after the next renewal.
///
/// No rule reads these members. They answer support's questions about what a customer pays. A family member and the user of
/// a seat pay nothing, so all members are nil or empty for them, although their transactions name the purchaser's price.
package struct SubscriptionTerms {
    /// The transaction of the current period; nil if only a receipt lists it.
    private let purchase: Purchase?
    /// The transactions of seats in the current period: the first one, and those that added seats to it.
    private let items: [Purchase]
    /// The renewal info of the current period.
    private let renewal: Renewal?

    package init(of subscription: Subscription, in facts: SubscriberFacts) {
        func stored(_ id: TransactionID) -> Purchase? {
            let fact = facts[SubscriberFact.Key(kind: .transaction, id: id)]
            return if case .transaction(let value)? = fact?.value { value } else { nil }
        }
        guard let first = stored(subscription.transactionID), !first.isAnothers else {
            (purchase, items, renewal) = (nil, [], nil)
            return
        }
        purchase = first
        let added = subscription.addedSeats.compactMap(stored)
        items = first.hasSeats || !added.isEmpty ? [first] + added : []
        let fact = facts[SubscriberFact.Key(kind: .renewalInfo, id: subscription.originalTransactionID)]
        renewal =
            if case .renewalInfo(let value)? = fact?.value, subscription.hasRenewalInfo { value } else { nil }
    }

    /// The price of the current period in thousandths of ``currency``; of seats, the average of one of them.
    package var price: Int64? {
        guard items.count > 1 else { return purchase?.price }
        let prices = items.compactMap { item in
            item.price.flatMap { price in item.quantity.map { (price: Double(price), count: Double($0)) } }
        }
        let count = prices.reduce(0) { $0 + $1.count }
        guard prices.count == items.count, Set(items.map(\.currency)).count == 1, count > 0 else { return nil }
        return Int64(exactly: (prices.reduce(0) { $0 + $1.price * $1.count } / count).rounded())
    }

    /// An ISO 4217 code.
    package var currency: String? { purchase?.currency }

    /// The seats of the current period, the refunded ones included; nil without seats, and if a transaction does not state
    /// its number.
    package var seats: Int64? {
        let quantities = items.compactMap(\.quantity)
        return items.isEmpty || quantities.count < items.count ? nil : quantities.reduce(0, &+)
    }

    /// Those of them that Apple has refunded; nil if none is known.
    package var refundedSeats: Int64? {
        let refunded = items.compactMap { $0.revocation == nil ? $0.seats?.revokedQuantity : $0.quantity }
        return refunded.isEmpty ? nil : refunded.reduce(0, &+)
    }

    /// The seats of the next period; nil if the App Store does not state them, and if none follows. During a commitment, a
    /// bill follows even if the customer has cancelled it.
    package var nextSeats: Int64? { renewal?.autoRenewStatus == .on ? renewal?.quantity : nil }

    /// Writes the members of the current period, then `next` for the next one, and `afterCommitment` for what follows the
    /// commitment unless the customer has cancelled, each if the App Store states anything about it.
    func write(to writer: inout JSONWriter) {
        writer.members(ofPrice: price, currency)
        if let seats { writer.member("seats", seats) }
        if let refundedSeats { writer.member("refundedSeats", refundedSeats) }
        writer.priceTiers(items.flatMap { $0.seats?.priceTiers ?? [] }.joined)
        if let side = items.lazy.compactMap({ $0.seats?.invitationManagement }).first {
            writer.member("invitationManagement", side.rawValue)
        }
        if let reason = items.lazy.compactMap(\.additionalReason).first {
            writer.member("additionalTransactionReason", reason.rawValue)
        }
        guard let renewal else { return }
        let hasPrice = renewal.price != nil && renewal.currency != nil
        if hasPrice || renewal.quantity != nil || renewal.billingPlan != nil {
            writer.object("next") { writer in
                writer.members(ofPrice: renewal.price, renewal.currency)
                if let quantity = renewal.quantity { writer.member("seats", quantity) }
                writer.priceTiers(renewal.priceTiers)
                if let plan = renewal.billingPlan { writer.member("billingPlan", plan.rawValue) }
            }
        }
        guard let commitment = renewal.commitment, commitment.autoRenewStatus != .off,
            commitment != CommitmentRenewal(autoRenewStatus: commitment.autoRenewStatus)
        else { return }
        writer.object("afterCommitment") { writer in
            if let product = commitment.autoRenewProductID { writer.member("productID", utf8: product.text.utf8) }
            if let plan = commitment.billingPlanType { writer.member("billingPlan", plan.rawValue) }
            if let date = commitment.date { writer.member("at", date.milliseconds) }
            writer.members(ofPrice: commitment.price, renewal.currency ?? currency)
        }
    }
}

extension [PriceTier] {
    /// The tiers in order, one for each price.
    fileprivate var joined: [PriceTier] {
        sorted.reduce(into: []) { tiers, tier in
            if let last = tiers.last, last.price == tier.price, let count = last.quantity, let more = tier.quantity {
                tiers[tiers.count - 1] = PriceTier(price: tier.price, quantity: count &+ more)
            } else {
                tiers.append(tier)
            }
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

    /// Writes the tiers, unless there are none.
    fileprivate mutating func priceTiers(_ tiers: [PriceTier]) {
        guard !tiers.isEmpty else { return }
        objects("priceTiers", tiers) { writer, tier in
            if let price = tier.price { writer.member("price", price) }
            if let quantity = tier.quantity { writer.member("seats", quantity) }
        }
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
