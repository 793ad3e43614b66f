import OfferCore
import OfferEligibility

/// The answers of the App Store Server API about generated customers.
extension StandInWorld {
    /// A refusal as Apple spells it.
    package struct Refusal: Error, Hashable, Sendable {
        package let status: Int
        package let code: Int64
        package let message: String

        package init(_ code: Int64, _ message: String) {
            status = Int(code / 10_000)
            self.code = code
            self.message = message
        }
    }

    private static let unknownTransaction = Refusal(4_040_010, "Transaction id not found.")

    /// Get All Subscription Statuses.
    /// - Parameter ofAnotherApp: whether what is signed is of another app, so that it must be refused.
    package func statuses(
        _ id: String, filter: Set<Int> = [], at now: Int64, ofAnotherApp: Bool = false
    ) throws -> [UInt8] {
        guard let customer = customer(id) else { throw Self.unknownTransaction }
        let bought = customer.subscriptions.filter { !$0.transactions.isEmpty }
            .filter { filter.isEmpty || filter.contains($0.status(at: now)) }
        var writer = origin()
        var groups: [(String, [[UInt8]])] = []
        for group in Set(bought.map(\.group)).sorted() {
            groups.append(
                (
                    group,
                    try bought.filter { $0.group == group }.map { subscription in
                        var item = JSONWriter()
                        item.member("originalTransactionId", subscription.originalID)
                        item.member("status", Int64(subscription.status(at: now)))
                        item.member(
                            "signedTransactionInfo",
                            try signer(ofAnotherApp).transaction(
                                subscription.last, of: subscription, customer.appTransactionID, at: now,
                                ownership: customer.ownership))
                        item.member(
                            "signedRenewalInfo",
                            try signer.renewalInfo(
                                of: subscription, customer.appTransactionID, account: customer.account, at: now))
                        return item.finish()
                    }
                ))
        }
        writer.objects("data", groups) { writer, group in
            writer.member("subscriptionGroupIdentifier", group.0)
            writer.rawValues("lastTransactions", group.1)
        }
        return writer.finish()
    }

    /// Get Transaction History, version 2, ascending.
    /// - Parameter revision: the number of changes that the client has read.
    package func history(
        _ id: String, revision: String?, at now: Int64, ofAnotherApp: Bool = false
    ) throws -> [UInt8] {
        guard let customer = customer(id) else { throw Self.unknownTransaction }
        guard let read = revision.map({ Int($0.dropFirst(4)) }) ?? 0, revision?.hasPrefix("rev-") ?? true else {
            throw Refusal(4_000_005, "Invalid request revision.")
        }
        let changed = customer.history.filter { $0.modification > read }
        let page = changed.prefix(settings.pageSize)
        var writer = origin()
        writer.member("revision", "rev-\(page.last?.modification ?? read)")
        writer.member("hasMore", changed.count > page.count)
        writer.member("signedTransactions", try page.map { try sign($0, of: customer, at: now, ofAnotherApp) })
        return writer.finish()
    }

    /// The number of the order with which a transaction was bought.
    package static func orderNumber(of transaction: String) -> String { "M" + transaction }

    /// Look Up Order ID.
    package func order(_ number: String, at now: Int64, ofAnotherApp: Bool = false) throws -> [UInt8] {
        let id = String(number.dropFirst())
        var writer = JSONWriter()
        guard number.hasPrefix("M"), let customer = customer(id),
            let transaction = customer.history.first(where: { $0.id == id })
        else {
            writer.member("status", 1)
            return writer.finish()
        }
        writer.member("status", 0)
        writer.member("signedTransactions", [try sign(transaction, of: customer, at: now, ofAnotherApp)])
        return writer.finish()
    }

    /// Get Transaction Info.
    package func transactionInfo(_ id: String, at now: Int64, ofAnotherApp: Bool = false) throws -> [UInt8] {
        guard let customer = customer(id) else { throw Self.unknownTransaction }
        guard let transaction = customer.history.first(where: { $0.id == id }) else {
            throw Refusal(4_000_048, "Invalid request. App transaction ids are not supported.")
        }
        var writer = JSONWriter()
        writer.member("signedTransactionInfo", try sign(transaction, of: customer, at: now, ofAnotherApp))
        return writer.finish()
    }

    /// Get App Transaction Info.
    package func appTransactionInfo(_ id: String, at now: Int64) throws -> [UInt8] {
        guard let customer = customer(id) else { throw Self.unknownTransaction }
        var writer = JSONWriter()
        writer.member("signedAppTransactionInfo", try signer.appTransaction(customer.appTransactionID, at: now))
        return writer.finish()
    }

    /// Set App Account Token.
    package func setAppAccountToken(_ token: String, of id: String) throws {
        guard UUIDText(parsing: Array(token.utf8)) != nil else {
            throw Refusal(4_000_183, "Invalid request. The app account token field must be a valid UUID.")
        }
        guard let customer = customer(id) else { throw Self.unknownTransaction }
        guard customer.subscriptions.contains(where: { $0.transactions.first?.id == id }) else {
            throw Refusal(4_000_187, "Invalid request. The transaction ID provided is not an original transaction ID.")
        }
        setAccount(token, ofCustomer: customer.number)
    }

    /// What Get Notification History is asked for.
    package struct HistoryQuery: Sendable {
        package let start: Int64
        package let end: Int64
        package let onlyFailures: Bool

        package init(start: Int64, end: Int64, onlyFailures: Bool) {
            self.start = start
            self.end = end
            self.onlyFailures = onlyFailures
        }
    }

    /// Get Notification History.
    package func notificationHistory(
        _ query: HistoryQuery, token: String?, at now: Int64, ofAnotherApp: Bool = false
    ) throws -> [UInt8] {
        let reach: Int64 = settings.environment == "Production" ? 180 : 30
        guard query.start >= now - reach * 86_400_000 else {
            throw Refusal(4_000_012, "Start date is too far in the past.")
        }
        guard query.start < query.end else { throw Refusal(4_000_013, "Start date is after end date.") }
        guard let skipped = token.map({ Int($0.dropFirst(5)) }) ?? 0, token?.hasPrefix("page-") ?? true else {
            throw Refusal(4_000_014, "Invalid pagination token.")
        }
        let listed = notifications(from: query.start, until: min(query.end, now))
            .filter { !query.onlyFailures || !$0.wasReceived }
        let page = listed.dropFirst(skipped).prefix(settings.pageSize)
        var writer = JSONWriter()
        let hasMore = listed.count > skipped + page.count
        writer.member("hasMore", hasMore)
        if hasMore { writer.member("paginationToken", "page-\(skipped + page.count)") }
        writer.rawValues("notificationHistory", try page.map { try sent($0, ofAnotherApp) })
        return writer.finish()
    }

    /// Get Test Notification Status.
    package func testStatus(_ token: String) throws -> [UInt8] {
        guard let notification = notification(token), notification.event == nil, !notification.attempts.isEmpty else {
            throw Refusal(
                4_040_008, "Either the test notification token is expired or the notification is not yet available.")
        }
        return try sent(notification)
    }

    private func signer(_ ofAnotherApp: Bool) -> WorldSigner { ofAnotherApp ? signer.ofAnotherApp : signer }

    private func sent(_ notification: Notification, _ ofAnotherApp: Bool = false) throws -> [UInt8] {
        var writer = JSONWriter()
        writer.member("signedPayload", try signedPayload(of: notification, by: signer(ofAnotherApp)))
        writer.objects("sendAttempts", notification.attempts) { writer, attempt in
            writer.member("attemptDate", attempt.date)
            writer.member("sendAttemptResult", attempt.result)
        }
        return writer.finish()
    }

    private func origin() -> JSONWriter {
        var writer = JSONWriter()
        writer.member("environment", settings.environment)
        writer.member("bundleId", settings.bundleID)
        if settings.environment == "Production" { writer.member("appAppleId", settings.appAppleID) }
        return writer
    }

    private func sign(
        _ transaction: WorldTransaction, of customer: WorldCustomer, at now: Int64, _ ofAnotherApp: Bool
    ) throws -> String {
        guard let subscription = customer.subscriptions.first(where: { $0.all.contains(transaction) }) else {
            throw Self.unknownTransaction
        }
        return try signer(ofAnotherApp).transaction(
            transaction, of: subscription, customer.appTransactionID, at: now, ownership: customer.ownership)
    }
}
