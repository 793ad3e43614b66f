package import OfferCore
package import OfferEligibility

/// The answer to Get All Subscription Statuses, not yet verified: a customer's subscriptions in one app.
package struct SubscriptionStatuses: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package let originalTransactionID: TransactionID
        package let status: SubscriptionStatus
        /// The transaction, as a JWS in compact form.
        package let signedTransaction: [UInt8]
        /// The renewal info, as a JWS in compact form; nil if there is none, as for a revoked family share.
        package let signedRenewalInfo: [UInt8]?
    }

    package let items: [Item]
    /// The number of entries that do not match Apple's documentation.
    package var unreadableCount = 0
}

extension APICall<SubscriptionStatuses> {
    /// Creates a Get All Subscription Statuses request.
    /// - Parameter id: any transaction of the customer.
    package static func subscriptionStatuses(of id: TransactionNumber) -> Self {
        APICall(.subscriptionStatuses, .get, ["inApps", "v1", "subscriptions", id.text]) { answer throws(AnswerError) in
            var items: [SubscriptionStatuses.Item] = []
            var unreadableCount = 0
            for group in try answer.objects("data") {
                let entries = try group.knownObjects("lastTransactions")
                unreadableCount += entries.unreadableCount
                for entry in entries.objects {
                    do throws(AnswerError) { items.append(try SubscriptionStatuses.Item(entry)) } catch {
                        unreadableCount += 1
                    }
                }
            }
            return SubscriptionStatuses(items: items, unreadableCount: unreadableCount)
        }
    }
}

extension SubscriptionStatuses.Item {
    fileprivate init(_ entry: AnswerReader) throws(AnswerError) {
        self.init(
            originalTransactionID: try entry.transactionID("originalTransactionId"),
            status: SubscriptionStatus(rawValue: try entry.integer("status")),
            signedTransaction: try entry.text("signedTransactionInfo"),
            signedRenewalInfo: try entry.optionalText("signedRenewalInfo"))
    }
}

/// A page of the answer to Get Transaction History, not yet verified.
package struct TransactionHistoryPage: Hashable, Sendable {
    /// At most 20 transactions, each a JWS in compact form, least recently modified first.
    package let signedTransactions: [[UInt8]]
    /// The revision to send for the next page, now or later.
    package let revision: HistoryRevision
    package let hasMore: Bool
    /// The number of entries that are not text.
    package var unreadableCount = 0
}

/// A position in a transaction history, as identified by the App Store.
package struct HistoryRevision: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

extension APICall<TransactionHistoryPage> {
    /// Creates a Get Transaction History request, version 2, for all products, including finished and refunded
    /// purchases.
    ///
    /// The oldest modification comes first, so a stored revision finds later ones. A transaction that is modified while
    /// the pages are read can appear twice.
    /// - Parameters:
    ///   - id: any transaction of the customer.
    ///   - revision: the revision from the previous page; nil for the first page.
    package static func transactionHistory(of id: TransactionNumber, after revision: HistoryRevision?) -> Self {
        var query = [(name: "sort", value: "ASCENDING")]
        if let revision { query.append((name: "revision", value: revision.text)) }
        return APICall(.transactionHistory, .get, ["inApps", "v2", "history", id.text], query: query) {
            answer throws(AnswerError) in
            let entries = try answer.knownTexts("signedTransactions")
            return TransactionHistoryPage(
                signedTransactions: entries.texts,
                revision: HistoryRevision(String(decoding: try answer.text("revision"), as: UTF8.self)),
                hasMore: try answer.bool("hasMore"), unreadableCount: entries.unreadableCount)
        }
    }
}

extension APICall<[UInt8]> {
    /// Creates a Get Transaction Info request. The answer is a transaction, as a JWS in compact form.
    package static func transactionInfo(of id: TransactionNumber) -> Self {
        APICall(.transactionInfo, .get, ["inApps", "v1", "transactions", id.text]) { answer throws(AnswerError) in
            try answer.text("signedTransactionInfo")
        }
    }

    /// Creates a Get App Transaction Info request. The answer is an AppTransaction, as a JWS in compact form.
    package static func appTransactionInfo(of id: TransactionNumber) -> Self {
        APICall(.appTransactionInfo, .get, ["inApps", "v1", "transactions", "appTransactions", id.text]) {
            answer throws(AnswerError) in
            try answer.text("signedAppTransactionInfo")
        }
    }
}

extension APICall<Void> {
    /// Creates a Set App Account Token request. The token applies to the purchase and to all later renewals.
    /// - Parameter id: an original transaction ID.
    package static func setAppAccountToken(_ token: UUIDText, of id: TransactionNumber) -> Self {
        var writer = JSONWriter()
        writer.member("appAccountToken", utf8: token.utf8)
        return APICall(
            .appAccountToken, .put, ["inApps", "v1", "transactions", id.text, "appAccountToken"],
            body: writer.finish()
        ) { _ in }
    }
}

extension AnswerReader {
    fileprivate func transactionID(_ name: String) throws(AnswerError) -> TransactionID {
        let utf8 = try text(name)
        do { return try TransactionID(utf8: utf8) } catch { throw wrongType(name, "a transaction ID") }
    }
}
