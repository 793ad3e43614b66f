package import OfferCore
package import OfferEligibility

/// The answer of Get All Subscription Statuses: every subscription of one customer in one app. Nothing is verified yet.
package struct SubscriptionStatuses: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package let originalTransactionID: TransactionID
        package let status: SubscriptionStatus
        /// In compact form.
        package let signedTransaction: [UInt8]
        /// In compact form; nil for a subscription without one, such as a revoked family share.
        package let signedRenewalInfo: [UInt8]?
    }

    package let items: [Item]
    /// The number of entries that differ from Apple's documentation.
    package var unreadableCount = 0
}

extension APICall<SubscriptionStatuses> {
    /// Get All Subscription Statuses.
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

/// One page of Get Transaction History. Nothing is verified yet.
package struct TransactionHistoryPage: Hashable, Sendable {
    /// The transactions in compact form, at most 20, the least recently modified first.
    package let signedTransactions: [[UInt8]]
    /// The start of the next page, now or later.
    package let revision: HistoryRevision
    package let hasMore: Bool
    /// The number of entries that are not text.
    package var unreadableCount = 0
}

/// A place in a transaction history, as the App Store named it.
package struct HistoryRevision: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

extension APICall<TransactionHistoryPage> {
    /// Get Transaction History, version 2, for all products, including finished and refunded purchases.
    ///
    /// The order is ascending, so a stored revision finds later modifications. A transaction that is modified while the pages
    /// are read can appear twice.
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
    /// Get Transaction Info: one transaction in compact form.
    package static func transactionInfo(of id: TransactionNumber) -> Self {
        APICall(.transactionInfo, .get, ["inApps", "v1", "transactions", id.text]) { answer throws(AnswerError) in
            try answer.text("signedTransactionInfo")
        }
    }

    /// Get App Transaction Info: an AppTransaction in compact form.
    package static func appTransactionInfo(of id: TransactionNumber) -> Self {
        APICall(.appTransactionInfo, .get, ["inApps", "v1", "transactions", "appTransactions", id.text]) {
            answer throws(AnswerError) in
            try answer.text("signedAppTransactionInfo")
        }
    }
}

extension APICall<Void> {
    /// Set App Account Token. It applies to the purchase and to all later renewals.
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
