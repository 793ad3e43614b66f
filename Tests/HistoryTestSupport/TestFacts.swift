import OfferCore
import OfferEligibility

extension Timestamp {
    /// A time in days since the beginning of a test.
    static func day(_ days: Double) -> Timestamp {
        Timestamp(milliseconds: 1_760_000_000_000 + Int64((days * 86_400_000).rounded()))
    }

    /// The millisecond before this one.
    var before: Timestamp { Timestamp(milliseconds: milliseconds - 1) }

    /// The millisecond after this one.
    var after: Timestamp { Timestamp(milliseconds: milliseconds + 1) }
}

extension TransactionID {
    init(_ text: String) throws { try self.init(utf8: Array(text.utf8)) }
}

extension ProductID {
    init(_ text: String) throws { try self.init(utf8: Array(text.utf8)) }
}

extension UUIDText {
    /// The account with a number.
    static func account(_ number: UInt64) -> UUIDText { UUIDText(high: 0, low: number) }
}

/// Facts as short as a test wants them.
enum TestFacts {
    static func fact(
        _ value: SubscriberFact.Value, _ id: String, of original: String, signed: Timestamp
    ) throws -> SubscriberFact {
        let fact = SubscriberFact(
            value, transactionID: try TransactionID(id), originalTransactionID: try TransactionID(original),
            signedDate: signed, digest: [])
        return SubscriberFact(
            value, transactionID: try TransactionID(id), originalTransactionID: try TransactionID(original),
            signedDate: signed, digest: digest(fact.encoded))
    }

    /// A transaction of a monthly subscription in group `g`, in days. It is a purchase if it is the first, else a renewal.
    static func transaction(
        _ id: String, of original: String = "1", _ start: Double, _ end: Double, signed: Double? = nil,
        _ change: (inout Purchase) throws -> Void = { _ in }
    ) throws -> SubscriberFact {
        var purchase = Purchase(productID: try ProductID("monthly"), purchaseDate: .day(start))
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = "g"
        purchase.expiresDate = .day(end)
        purchase.webOrderLineItemID = "w\(id)"
        purchase.ownership = .purchased
        purchase.reason = id == original ? .purchase : .renewal
        purchase.price = 9990
        try change(&purchase)
        return try fact(.transaction(purchase), id, of: original, signed: .day(signed ?? start))
    }

    /// A renewal info in days, with auto-renew on.
    static func renewal(
        of original: String = "1", signed: Double, _ status: AutoRenewStatus = .on,
        _ change: (inout Renewal) throws -> Void = { _ in }
    ) throws -> SubscriberFact {
        var renewal = Renewal(productID: try ProductID("monthly"), autoRenewStatus: status)
        renewal.autoRenewProductID = try ProductID("monthly")
        try change(&renewal)
        return try fact(.renewalInfo(renewal), original, of: original, signed: .day(signed))
    }

    static func status(
        _ status: SubscriptionStatus, of original: String = "1", signed: Double
    ) throws -> SubscriberFact {
        try fact(.status(status), original, of: original, signed: .day(signed))
    }

    /// A history that the App Store gave as complete.
    static func history(of original: String = "1", signed: Double) throws -> SubscriberFact {
        try fact(.wholeHistory("r"), original, of: original, signed: .day(signed))
    }

    static func expired(_ reason: ExpiryReason, of original: String = "1", signed: Double) throws -> SubscriberFact {
        try fact(.expiryReason(reason), original, of: original, signed: .day(signed))
    }

    static func refundRequest(
        _ request: RefundRequest, _ id: String, of original: String = "1", signed: Double
    ) throws -> SubscriberFact {
        try fact(.refundRequest(request), id, of: original, signed: .day(signed))
    }

    /// 32 bytes that depend on the content alone.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let word = (0..<8).map { UInt8(truncatingIfNeeded: hash >> UInt64($0 * 8)) }
        return word + word + word + word
    }
}

extension SubscriberState {
    init(
        _ facts: [SubscriberFact], _ environment: AppStoreEnvironment = .production,
        groups: [ProductID: String] = [:], evidence: HistoryEvidence = HistoryEvidence(), at now: Timestamp
    ) {
        self.init(of: SubscriberFacts(facts), environment: environment, groups: groups, evidence: evidence, at: now)
    }

    subscript(_ original: String) -> Subscription? {
        subscriptions.first { $0.originalTransactionID.text.description == original }
    }
}

/// The state of the only subscription.
func subscription(
    _ facts: [SubscriberFact], _ environment: AppStoreEnvironment = .production, at now: Timestamp
) -> Subscription? {
    let subscriptions = SubscriberState(facts, environment, at: now).subscriptions
    return subscriptions.count == 1 ? subscriptions.first : nil
}
