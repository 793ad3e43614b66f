import OfferCore
import OfferEligibility

/// The subscriptions, with one row for each `originalTransactionId`.
enum SubscriptionTable {
    /// Returns the query for the `id` of a subscription.
    static func id(of original: TransactionID, _ app: Int64) -> Query {
        Query("SELECT id FROM subscription WHERE app = ? AND original_transaction_id = ?", [app, original.string])
    }

    static func id(of original: TransactionID, _ app: Int64, _ db: any Database) throws -> Int64? {
        try db.rows([id(of: original, app)]).joined().first.map { try $0["id"] }
    }

    /// Returns the queries for the `id` of a transaction's subscriptions. There is only one subscription, unless the
    /// App Store contradicts itself.
    static func ids(ofTransaction id: TransactionID, _ app: Int64) -> [Query] {
        [self.id(of: id, app), FactTable.subscriptions(withTransaction: id, app)]
    }

    /// Returns the `id` of a subscription if announcements may be missing that would have been kept since.
    static func idLackingAnnouncements(
        of original: TransactionID, _ app: Int64, _ db: any Database
    ) throws -> Int64? {
        try db.number(
            "SELECT id FROM subscription WHERE app = ? AND original_transaction_id = ? AND lacks_announcements = 1",
            [app, original.string])
    }

    /// Returns the identifier of the subscription. Adds the subscription if it is new.
    /// - Parameter lacksAnnouncements: true if it may come from a version that kept none.
    static func makeID(
        of original: TransactionID, lacksAnnouncements: Bool, _ app: Int64, _ db: any Database
    ) throws -> Int64 {
        if let id = try id(of: original, app, db) { return id }
        let id = try db.insert(
            "INSERT INTO subscription (app, original_transaction_id, lacks_announcements) VALUES (?, ?, ?)",
            [app, original.string, lacksAnnouncements ? 1 : 0])
        try AppTable.add(AppTable.Arrivals(subscriptions: 1), app, db)
        return id
    }

    /// Returns the query for the `original_transaction_id` of a subscription.
    static func original(_ id: Int64) -> Query {
        Query("SELECT original_transaction_id FROM subscription WHERE id = ?", [id])
    }

    /// Returns the query for the `original_transaction_id` and the columns of `IdentifierTable.identifierIfAny`, in one
    /// or more rows.
    static func originalAndIdentifiers(_ id: Int64) -> Query {
        Query(
            """
            SELECT original_transaction_id, kind, value
            FROM subscription LEFT JOIN identifier ON identifier.subscription = subscription.id
            WHERE subscription.id = ?
            """, [id])
    }

    /// Returns the lowest and the highest number of an app's subscriptions; nil if there are none. The unary plus makes
    /// SQLite read the table in the order of numbers.
    static func numbers(of app: Int64, _ db: any Database) throws -> ClosedRange<Int64>? {
        guard let first = try db.number("SELECT id FROM subscription WHERE +app = ? ORDER BY id LIMIT 1", [app]),
            let last = try db.number("SELECT id FROM subscription WHERE +app = ? ORDER BY id DESC LIMIT 1", [app])
        else { return nil }
        return first...last
    }

    /// Returns the subscriptions of an app with a number in a range, lowest first.
    static func originals(
        of app: Int64, _ numbers: ClosedRange<Int64>, _ db: any Database
    ) throws -> [(number: Int64, original: TransactionID)] {
        try db.rows(
            "SELECT id, original_transaction_id FROM subscription WHERE +app = ? AND id BETWEEN ? AND ? ORDER BY id",
            [app, numbers.lowerBound, numbers.upperBound]
        ).map { (number: try $0["id"], original: try $0.transactionID("original_transaction_id")) }
    }

    /// Removes a subscription with its facts and identifiers.
    static func delete(_ id: Int64, _ db: any Database) throws {
        try PayloadTable.removeMentions(of: id, db)
        try db.send("DELETE FROM subscription WHERE id = ?", [id])
    }

    /// Removes a subscription that turned out not to exist.
    static func retract(_ id: Int64, _ app: Int64, _ db: any Database) throws {
        try delete(id, db)
        try AppTable.add(AppTable.Arrivals(subscriptions: -1), app, db)
    }

    static func setCheck(_ id: Int64, _ time: Timestamp?, _ db: any Database) throws {
        try db.send(
            "UPDATE subscription SET check_at = ?1 WHERE id = ?2 AND check_at IS DISTINCT FROM ?1",
            [time?.milliseconds, id])
    }

    /// Moves the checks of subscriptions that have no newer data.
    /// - Returns: for each check, true if it was moved.
    @discardableResult
    static func moveChecks(
        _ checks: [(id: Int64, dueAt: Timestamp, to: Timestamp?)], _ db: any Database
    ) throws -> [Bool] {
        try db.changes(
            "UPDATE subscription SET check_at = ? WHERE id = ? AND check_at = ?",
            forEach: checks.map { [$0.to?.milliseconds, $0.id, $0.dueAt.milliseconds] }
        ).map { $0 > 0 }
    }

    static func due(
        before time: Timestamp, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [(id: Int64, original: TransactionID, dueAt: Timestamp)] {
        try db.rows(
            """
            SELECT id, original_transaction_id, check_at FROM subscription
            WHERE app = ? AND check_at IS NOT NULL AND check_at <= ? ORDER BY check_at, id LIMIT ?
            """, [app, time.milliseconds, limit]
        ).map { (id: try $0["id"], try $0.transactionID("original_transaction_id"), try $0.requiredTime("check_at")) }
    }

    /// - Parameter limit: the number at which counting stops, to bound its time.
    static func countDue(before time: Timestamp, _ app: Int64, limit: Int, _ db: any Database) throws -> Int64 {
        try db.number(
            """
            SELECT count(*) FROM (
                SELECT 1 AS one FROM subscription
                WHERE app = ? AND check_at IS NOT NULL AND check_at <= ? LIMIT ?) AS due
            """, [app, time.milliseconds, limit]) ?? 0
    }

    /// Returns the query for the `environment` of a subscription.
    static func environment(of id: Int64) -> Query {
        Query(
            "SELECT environment FROM subscription JOIN app ON app.id = subscription.app WHERE subscription.id = ?", [id]
        )
    }
}
