package import OfferCore

/// One customer who could have had the offer, and what happened to the customer since.
///
/// There is one for each customer, offer and sample. Later records do not change the arm, the time or the source.
package struct ExposedCustomer: Sendable {
    package enum Arm: String, CaseIterable, Hashable, Sendable {
        case offered
        case heldOut = "held_out"
    }

    package let arm: Arm
    /// The first time at which everything except the share held.
    package let exposedAt: Timestamp
    /// True if the data about the customer was erased. Nothing is then known except the exposure.
    package var isErased = false
    package var channel = ""
    /// nil for an inline rule.
    package var rule: String?
    /// The storefront of the last purchase before the exposure, as a three-letter code.
    package var storefront: String?
    /// The digest of the rules that decided, in hexadecimal.
    package var rulesDigest = ""
    /// The times of the signatures that the customer was given.
    package var signedAt: [Timestamp] = []
    /// The first time at which the app or the App Store showed the offer; nil if none was reported.
    package var shownAt: Timestamp?
    /// The first redemption since the exposure; nil if there is none.
    package var redeemedAt: Timestamp?
    package var afterDiscount = AfterDiscount.notYet
    /// The spans of access to the subscription group, ascending and without overlaps.
    package var access: [AccessSpan] = []
    /// The starts of the periods that followed another period.
    package var renewedAt: [Timestamp] = []
    package var payments: [Payment] = []
    /// The facts that the team tracks, by name.
    package var facts: [String: FactHistory] = [:]

    package init(arm: Arm, exposedAt: Timestamp) {
        self.arm = arm
        self.exposedAt = exposedAt
    }

    /// The state of the subscription after the last discounted period of the redemption.
    package enum AfterDiscount: String, CaseIterable, Hashable, Sendable {
        /// Its end has not come.
        case notYet = "not_yet"
        /// A period at no discount was paid.
        case kept
        /// Access ended, or another discount followed.
        case lost
        /// The data does not say.
        case unknown
    }
}

/// A span of time with access, including grace periods.
package struct AccessSpan: Hashable, Sendable {
    package let start: Timestamp
    /// The first time without access; in the future if the paid time has not ended.
    package let end: Timestamp
    /// Why access ended.
    package let cause: EndCause

    package init(start: Timestamp, end: Timestamp, cause: EndCause) {
        self.start = start
        self.end = end
        self.cause = cause
    }
}

/// Why access ended.
package enum EndCause: String, CaseIterable, Hashable, Codable, Sendable {
    case cancelled, billing, refunded
    /// The customer did not agree to a price increase.
    case price
    /// Another cause, or an unknown one.
    case other
}

/// A payment or, with a negative amount, a refund.
package struct Payment: Hashable, Sendable {
    package let at: Timestamp
    /// An ISO 4217 code.
    package let currency: String
    /// In thousandths of the currency, with tax and before the App Store's commission.
    package let amount: Int64

    package init(at: Timestamp, currency: String, amount: Int64) {
        self.at = at
        self.currency = currency
        self.amount = amount
    }
}

extension ExposedCustomer {
    func hasAccess(at time: Timestamp) -> Bool { access.contains { $0.start <= time && time < $0.end } }

    /// Returns what was paid, less refunds, from the exposure up to a time.
    func paid(until time: Timestamp) -> [String: Int64] {
        var sums: [String: Int64] = [:]
        for payment in payments where exposedAt <= payment.at && payment.at <= time {
            sums[payment.currency, default: 0] += payment.amount
        }
        return sums
    }

    /// The span of access that a redemption begins or falls into; nil if it is in the future.
    var redeemedSpan: AccessSpan? { redeemedAt.flatMap { time in access.first { time < $0.end } } }
}
