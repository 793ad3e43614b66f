import OfferCore

/// A change of a subscription that a later renewal info replaces: auto-renew was turned on or off, the product or the plan
/// of the next period changed, billing failed or recovered, or the subscription ended.
package struct RenewalChange: Hashable, Sendable {
    /// The types of notifications that conditions and reports read.
    package static let autoRenewType = "DID_CHANGE_RENEWAL_STATUS"
    static let billingErrorType = "DID_FAIL_TO_RENEW"
    /// Kept only for a payment after a failed one.
    static let renewalType = "DID_RENEW"

    /// The type and subtype of the notification.
    package let type: String
    package let subtype: String?
    /// The members of the renewal info that changes concern.
    package let renewal: Renewal

    /// - Parameter renewal: other members are left out.
    package init(type: String, subtype: String?, renewal: Renewal) {
        self.type = type
        self.subtype = subtype
        self.renewal = renewal.changing
    }
}

extension Renewal {
    fileprivate var changing: Renewal {
        var renewal = Renewal(productID: productID, autoRenewStatus: autoRenewStatus)
        renewal.autoRenewProductID = autoRenewProductID
        renewal.renewalDate = renewalDate
        renewal.expirationIntent = expirationIntent
        renewal.isInBillingRetryPeriod = isInBillingRetryPeriod
        renewal.gracePeriodExpiresDate = gracePeriodExpiresDate
        renewal.billingPlan = billingPlan
        renewal.commitment = commitment
        renewal.quantity = quantity
        return renewal
    }
}

extension SubscriberFact.Key {
    /// The key of a change: its date, its type and subtype, and its subscription.
    init(_ change: RenewalChange, signed date: Timestamp, _ original: TransactionID) {
        // The text is short and has only allowed characters.
        let rest = Array(original.text.utf8) + [0] + Array((change.subtype ?? "").utf8)
        let hash = String(FNV1a.hash(rest), radix: 16)
        let id = try? TransactionID(utf8: Array("\(date.milliseconds) \(change.type) \(hash)".utf8))
        self.init(kind: .renewalChange, id: id ?? original)
    }
}

// MARK: Encoding

extension RenewalChange {
    /// The tags are stored in databases.
    private enum Tag {
        static let type: UInt8 = 1
        static let subtype: UInt8 = 2
        /// An object.
        static let renewal: UInt8 = 3
    }

    func write(to writer: inout FactWriter) {
        writer.write(Tag.type, type)
        writer.write(Tag.subtype, subtype)
        writer.write(Tag.renewal, renewal) { $1.write(to: &$0) }
    }

    init(_ reader: FactReader) throws(FactEncodingError) {
        self.init(
            type: try reader.required(Tag.type, reader.text(Tag.type)), subtype: try reader.text(Tag.subtype),
            renewal: try reader.required(
                Tag.renewal,
                reader.objects(Tag.renewal) { reader throws(FactEncodingError) in try Renewal(reader) }.first))
    }
}
