import OfferCore
import OfferEligibility

/// The answers to requests for retention messages.
enum RetentionShownTable {
    /// Returns the queries for the rows that ``shown(_:)`` reads.
    static func all(about subscriptions: Set<TransactionID>, _ app: Int64) -> [Query] {
        ofSubscriptions.queries(about: subscriptions.map(CustomerIdentifier.originalTransactionID), app)
    }

    // Without the condition on `request_id`, SQLite prefers the primary key, and would read all rows of the app.
    private static let ofSubscriptions = IdentifierQueries { kind, value in
        "SELECT * FROM retention_shown WHERE app = ?1 AND kind = \(kind) AND value = \(value) AND request_id >= ''"
    }

    /// Returns true if the App Store requested a message for the app.
    static func isUsed(by app: Int64, _ db: any Database) throws -> Bool {
        try db.row("SELECT 1 AS used FROM retention_shown WHERE app = ? AND request_id >= '' LIMIT 1", [app]) != nil
    }

    static func shown(_ row: Row) throws -> RetentionShown {
        guard let request = UUIDText(parsing: Array((try row["request_id"] as String).utf8)) else {
            throw StoreError.unreadable("request_id")
        }
        let (kind, value): (Int, [UInt8]) = (try row["kind"], try row["value"])
        let subject: RetentionShown.Subject
        if kind == StoredIdentifier.erasedKind {
            subject = .erased(value)
        } else {
            guard case .originalTransactionID(let id) = try StoredIdentifier(kind: kind, value: value).identifier()
            else { throw StoreError.unreadable("kind") }
            subject = .subscription(id)
        }
        return RetentionShown(
            requestIdentifier: request, subject: subject, answer: try row["answer"], reason: try row["reason"],
            messageIdentifier: try (row["message_id"] as String?).flatMap { UUIDText(parsing: Array($0.utf8)) },
            productID: try (row["product_id"] as String?).map { _ in try row.productID },
            offerID: try (row["offer_id"] as String?).map { _ in try row.offerID }, rule: try row["rule"],
            caseNumber: try row["retention_case"], at: try row.requiredTime("at"))
    }

    /// Adds an answer, unless one to the same request was recorded.
    /// - Returns: true if it was added.
    @discardableResult
    static func add(_ shown: RetentionShown, _ app: Int64, _ db: any Database) throws -> Bool {
        let subject =
            switch shown.subject {
            case .subscription(let id): StoredIdentifier(.originalTransactionID(id))
            case .erased(let value): StoredIdentifier(kind: StoredIdentifier.erasedKind, value: value)
            }
        return try db.change(
            """
            INSERT INTO retention_shown
                (app, request_id, kind, value, answer, reason, message_id, product_id, offer_id, rule, at,
                retention_case)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                app, shown.requestIdentifier.description, subject.kind, subject.value, shown.answer, shown.reason,
                shown.messageIdentifier?.description, shown.productID?.text.description,
                shown.offerID?.text.description, shown.rule, shown.at.milliseconds, shown.caseNumber,
            ]) == 1
    }

    /// Removes a subscription's identifier from the answers, which still count.
    static func erase(_ customer: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let (stored, erased) = (StoredIdentifier(customer), StoredIdentifier.erased())
        try db.send(
            "UPDATE retention_shown SET kind = ?, value = ? WHERE app = ? AND kind = ? AND value = ?",
            [erased.kind, erased.value, app, stored.kind, stored.value])
    }
}
