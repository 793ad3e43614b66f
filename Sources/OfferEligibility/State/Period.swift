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

    /// Joins the line items of the same period: a later one has a reason for additional transactions, and the product and
    /// end of an earlier one. The App Store does not send the earlier one again, so that one may have no reason.
    ///
    /// The first line item represents the period. The period is revoked only if all of them are, at the last revocation.
    static func joined(_ lineItems: [Period]) -> [Period] {
        guard lineItems.contains(where: { $0.purchase.additionalReason != nil }) else { return lineItems }
        var periods: [Period] = []
        for item in lineItems {
            if item.purchase.additionalReason != nil, let place = periods.lastIndex(where: item.adds(to:)) {
                periods[place] = periods[place].joining(item)
            } else {
                periods.append(item)
            }
        }
        return periods
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
        return Period(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            signedDate: max(signedDate, copy.signedDate), purchase: purchase)
    }

    /// Returns true if this line item adds to a period. An offer that the period does not have is a redemption of its own.
    private func adds(to period: Period) -> Bool {
        let offer = UsedOffer(self)
        return period.end == end && period.purchase.productID == purchase.productID
            && (offer == nil || offer == UsedOffer(period))
    }

    private func joining(_ other: Period) -> Period {
        var purchase = purchase
        if let one = purchase.revocation, let two = other.purchase.revocation {
            purchase.revocation = one.date < two.date ? two : one
        } else {
            purchase.revocation = nil
        }
        purchase.isUpgraded = purchase.isUpgraded || other.purchase.isUpgraded
        return Period(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            signedDate: max(signedDate, other.signedDate), purchase: purchase)
    }
}
