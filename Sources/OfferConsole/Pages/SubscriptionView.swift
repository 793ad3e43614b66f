package import OfferCore

/// The kind of a period, as in a look-up.
package enum PeriodKind: Sendable {
    case trial, introductory, promotional
    case offerCode
    case winBack
    case retention
    case otherOffer
    case regular

    var words: StaticString {
        switch self {
        case .trial: "free trial"
        case .introductory: "introductory offer"
        case .promotional: "promotional offer"
        case .offerCode: "offer code"
        case .winBack: "win-back offer of the App Store"
        case .retention: "offer of a retention message"
        case .otherOffer: "offer of an unknown type"
        case .regular: "standard price"
        }
    }
}

/// A subscription of a customer, as it is now, and its periods.
package struct SubscriptionView: Sendable {
    package enum Status: Sendable {
        case active
        case billingGracePeriod
        case billingRetry
        case expired, revoked
    }
    package enum EndReason: Sendable {
        case cancelled, billing
        case priceIncrease
        case productUnavailable
        case refunded, other
    }
    package enum Ownership: Sendable {
        case purchased
        case familyShared
        case assigned, other
    }

    package struct Period: Sendable {
        let transactionID: String
        let productID: String
        let start: Timestamp
        let end: Timestamp
        let kind: PeriodKind
        let offerID: String?
        /// The time of a refund; nil if there was none.
        let refundedAt: Timestamp?

        package init(
            transactionID: String, productID: String, start: Timestamp, end: Timestamp, kind: PeriodKind = .regular,
            offerID: String? = nil, refundedAt: Timestamp? = nil
        ) {
            self.transactionID = transactionID
            self.productID = productID
            self.start = start
            self.end = end
            self.kind = kind
            self.offerID = offerID
            self.refundedAt = refundedAt
        }
    }

    let originalTransactionID: String
    let productID: String
    let status: Status
    /// False if the period is over and the App Store has not reported what follows.
    package var isSettled = true
    package var autoRenews: Bool?
    package var autoRenewProductID: String?
    package var expiresAt: Timestamp?
    package var gracePeriodExpiresAt: Timestamp?
    package var endedAt: Timestamp?
    package var endedBecause: EndReason?
    /// Paid renewals without a gap; nil if the first purchase is unknown.
    package var renewals: Int?
    package var subscribedSince: Timestamp?
    package var lastPeriod = PeriodKind.regular
    package var offerID: String?
    /// The offer of the next period.
    package var pendingOffer: (kind: PeriodKind, offerID: String?)?
    /// `pending` or `accepted`.
    package var priceIncrease: String?
    package var ownership: Ownership?
    package var isRefundPending = false
    /// The position in a commitment: the billing period from 1, and their number.
    package var commitment: (period: Int, of: Int)?
    /// The price of the current period with its currency, such as `4.99 EUR`; with seats, the average price of one. nil for
    /// customers who pay nothing.
    package var price: String?
    /// The seats of the current period, those of them that Apple has refunded, and those of the next period, if one is to
    /// follow.
    package var seats: (count: Int64, refunded: Int64?, next: Int64?)?
    /// The oldest first.
    package var periods: [Period]

    package init(originalTransactionID: String, productID: String, status: Status, periods: [Period]) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.status = status
        self.periods = periods
    }
}
