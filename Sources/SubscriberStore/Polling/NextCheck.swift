package import OfferCore

/// When the App Store should be asked about a subscription, if it says nothing by itself.
package enum NextCheck {
    /// The end of the current period or of its grace, until something that was signed later is known.
    /// - Parameter facts: all facts about one subscription.
    /// - Returns: nil if nothing ends, or if the end is known to have passed.
    package static func time(after facts: [SubscriberFact]) -> Timestamp? {
        guard let end = end(of: facts), let last = facts.map(\.signedDate).max(), last < end else { return nil }
        return end
    }

    private static func end(of facts: [SubscriberFact]) -> Timestamp? {
        var current: (purchase: Purchase, id: TransactionID)?
        var graceEnd: Timestamp?
        for fact in facts {
            switch fact.value {
            case .transaction(let purchase) where purchase.isSubscriptionPeriod:
                if let known = current, !isLater((purchase, fact.key.id), than: known) { continue }
                current = (purchase, fact.key.id)
            case .renewalInfo(let renewal): graceEnd = renewal.gracePeriodExpiresDate
            default: continue
            }
        }
        guard let purchase = current?.purchase, purchase.revocation == nil else { return nil }
        return [purchase.expiresDate, graceEnd].compactMap { $0 }.max()
    }

    /// The current transaction is the one bought last. The identifier decides between two of the same time.
    private static func isLater(
        _ one: (purchase: Purchase, id: TransactionID), than other: (purchase: Purchase, id: TransactionID)
    ) -> Bool {
        guard one.purchase.purchaseDate == other.purchase.purchaseDate else {
            return one.purchase.purchaseDate > other.purchase.purchaseDate
        }
        return other.id.text.utf8.lexicographicallyPrecedes(one.id.text.utf8)
    }
}
