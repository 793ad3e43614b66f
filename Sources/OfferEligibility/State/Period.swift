import OfferCore

/// One period of a subscription.
///
/// The App Store may report a period under two transaction IDs: that of the purchase and that of a restore. Both
/// transactions have the same `webOrderLineItemId`.
struct Period {
    let transactionID: TransactionID
    let originalTransactionID: TransactionID
    /// The newest signing date of the period's transactions.
    let signedDate: Timestamp
    let purchase: Purchase
    /// The line items of seats that were added during the period.
    private(set) var addedSeats: [Period] = []

    var start: Timestamp { purchase.purchaseDate }

    /// The end of the paid time. A revocation or an upgrade does not change it.
    var end: Timestamp { purchase.expiresDate ?? purchase.purchaseDate }

    /// - Parameter transactions: the transactions of one subscription in ascending order.
    /// - Returns: one for each line item, in ascending order. A period with added seats has several: ``joined(_:)``.
    static func lineItems(of transactions: [KnownTransaction]) -> [Period] {
        var periods: [Period] = []
        var places: [String: Int] = [:]
        for transaction in transactions {
            if let item = transaction.purchase.webOrderLineItemID {
                if let place = places[item] {
                    periods[place] = periods[place].adding(transaction)
                    continue
                }
                places[item] = periods.count
            }
            periods.append(Period(transaction))
        }
        return periods
    }

    /// Joins added seats to the period in which they start. The App Store does not send that period's first transaction
    /// again, so it may have no reason for additional transactions.
    ///
    /// The first line item represents the period. The period is revoked only if all of them are, at the last revocation.
    static func joined(_ lineItems: [Period]) -> [Period] {
        guard lineItems.contains(where: \.isAddedSeats) else { return lineItems }
        var periods: [Period] = []
        for item in lineItems {
            if item.isAddedSeats, let last = periods.last, item.adds(to: last) {
                periods[periods.count - 1].addedSeats.append(item)
            } else {
                periods.append(item)
            }
        }
        return periods.map(\.summarised)
    }

    /// The line items with an offer, the first of each offer.
    var offers: [(offer: UsedOffer, lineItem: Period)] {
        var offers: [(offer: UsedOffer, lineItem: Period)] = []
        for item in [self] + addedSeats {
            guard let offer = UsedOffer(item), !offers.contains(where: { $0.offer == offer }) else { continue }
            offers.append((offer, item))
        }
        return offers
    }

    private init(_ transaction: KnownTransaction) {
        self.init(
            transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
            signedDate: transaction.signedDate, purchase: transaction.purchase)
    }

    private init(
        transactionID: TransactionID, originalTransactionID: TransactionID, signedDate: Timestamp, purchase: Purchase
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.purchase = purchase
    }

    /// The first transaction represents the period. The period is refunded or upgraded if any of its transactions is.
    private func adding(_ copy: KnownTransaction) -> Period {
        var purchase = purchase
        purchase.revocation = purchase.revocation ?? copy.purchase.revocation
        purchase.isUpgraded = purchase.isUpgraded || copy.purchase.isUpgraded
        purchase.additionalReason = purchase.additionalReason ?? copy.purchase.additionalReason
        return Period(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            signedDate: max(signedDate, copy.signedDate), purchase: purchase)
    }

    /// True for every line item of a period with added seats, the first included.
    private var isAddedSeats: Bool { purchase.additionalReason == .seatAddition }

    /// Returns true if this line item starts while a period of the same product and ownership gives access. The line
    /// items of a renewal start or end together.
    private func adds(to period: Period) -> Bool {
        let isTogether =
            period.start == start
            || period.isAddedSeats && ([period] + period.addedSeats).contains { $0.end == self.end }
        let ends = ([period] + period.addedSeats).map { min($0.end, $0.purchase.revocation?.date ?? $0.end) }
        let end = ends.max() ?? period.end
        guard isTogether || period.start < start && start < end && purchase.reason != .renewal else { return false }
        return period.purchase.productID == purchase.productID
            && (period.purchase.ownership ?? purchase.ownership) == purchase.ownership
    }

    /// The period with the values that depend on all of its line items.
    private var summarised: Period {
        guard !addedSeats.isEmpty else { return self }
        let all = [self] + addedSeats
        let living = all.filter { $0.purchase.revocation == nil }
        var purchase = purchase
        purchase.revocation =
            living.isEmpty ? all.compactMap(\.purchase.revocation).max { $0.date < $1.date } : nil
        purchase.expiresDate = (living.isEmpty ? all : living).compactMap(\.purchase.expiresDate).max()
        purchase.isUpgraded = all.contains(where: \.purchase.isUpgraded)
        var period = Period(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            signedDate: all.map(\.signedDate).max() ?? signedDate, purchase: purchase)
        period.addedSeats = addedSeats
        return period
    }
}
