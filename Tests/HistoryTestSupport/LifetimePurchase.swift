import OfferCore
import OfferEligibility
import TestSupport

/// The purchase of something that lasts, which the App Store may refund and give back.
struct LifetimePurchase {
    static let id = "8"
    static let product = "lifetime"

    private(set) var notifications: [HistoryNotification] = []
    /// nil if the customer has it.
    private(set) var refund: Timestamp?
    private(set) var end: Timestamp

    init(at start: Timestamp, _ random: inout SplitMix64) throws {
        end = start
        let steps = Int.random(in: 0..<4, using: &random)
        try notify("ONE_TIME_CHARGE", start)
        if steps > 0 { try notify("CONSUMPTION_REQUEST", start, .open) }
        if steps > 1 {
            refund = end
            try notify("REFUND", start, .granted)
        }
        if steps > 2 {
            refund = nil
            try notify("REFUND_REVERSED", start)
        }
    }

    func isRefundPending(at now: Timestamp) -> Bool {
        guard let last = notifications.last, last.type == "CONSUMPTION_REQUEST" else { return false }
        return now.milliseconds < last.signedDate.milliseconds + 60 * 86_400_000
    }

    private mutating func notify(_ type: String, _ start: Timestamp, _ request: RefundRequest? = nil) throws {
        var purchase = Purchase(productID: try ProductID(Self.product), purchaseDate: start)
        (purchase.type, purchase.ownership, purchase.reason) = (.nonConsumable, .purchased, .purchase)
        (purchase.price, purchase.revocation) = (49_990, refund.map { Revocation(date: $0, reason: .other) })
        let values =
            [.transaction(purchase)] + [request.map { SubscriberFact.Value.refundRequest($0) }].compactMap(\.self)
        notifications.append(
            HistoryNotification(
                uuid: "\(Self.id)-\(notifications.count)", type: type, subtype: nil, signedDate: end,
                facts: try values.map { try TestFacts.fact($0, Self.id, of: Self.id, signed: end) }))
        end = Timestamp(milliseconds: end.milliseconds + 1000)
    }
}
