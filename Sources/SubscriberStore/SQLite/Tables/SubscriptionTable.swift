import GRDB
import OfferCore

/// One row for each `originalTransactionId`.
enum SubscriptionTable {
    static func id(of original: TransactionID, _ app: Int64, _ db: Database) throws -> Int64? {
        try db.number(
            "SELECT id FROM subscription WHERE app = ? AND original_transaction_id = ?", [app, original.string])
    }

    /// The subscriptions that a transaction belongs to: one, unless the App Store contradicts itself.
    static func ids(ofTransaction id: TransactionID, _ app: Int64, _ db: Database) throws -> [Int64] {
        let first = try self.id(of: id, app, db).map { [$0] } ?? []
        return try first + FactTable.subscriptions(withTransaction: id, app, db)
    }

    /// The identifier of the subscription, which is added if it is new.
    static func makeID(of original: TransactionID, _ app: Int64, _ db: Database) throws -> Int64 {
        if let id = try id(of: original, app, db) { return id }
        try db.change(
            "INSERT INTO subscription (app, original_transaction_id) VALUES (?, ?)", [app, original.string])
        let id = db.lastInsertedRowID
        try db.change("UPDATE app SET subscriptions = subscriptions + 1 WHERE id = ?", [app])
        return id
    }

    static func original(_ id: Int64, _ db: Database) throws -> TransactionID? {
        try db.row("SELECT original_transaction_id FROM subscription WHERE id = ?", [id])?
            .transactionID("original_transaction_id")
    }

    /// Removes a subscription with its facts and identifiers.
    static func delete(_ id: Int64, _ db: Database) throws {
        try db.change("DELETE FROM subscription WHERE id = ?", [id])
    }

    /// Removes a subscription that there never was.
    static func retract(_ id: Int64, _ app: Int64, _ db: Database) throws {
        try delete(id, db)
        try db.change("UPDATE app SET subscriptions = subscriptions - 1 WHERE id = ?", [app])
    }

    static func setCheck(_ id: Int64, _ time: Timestamp?, _ db: Database) throws {
        try db.change(
            "UPDATE subscription SET check_at = ?1 WHERE id = ?2 AND check_at IS NOT ?1", [time?.milliseconds, id])
    }

    static func due(at now: Timestamp, limit: Int, _ db: Database) throws -> [(id: Int64, due: DueSubscription)] {
        try db.rows(
            """
            SELECT subscription.id, bundle_id, environment, original_transaction_id, check_at
            FROM subscription JOIN app ON app.id = subscription.app
            WHERE check_at IS NOT NULL AND check_at <= ? ORDER BY check_at LIMIT ?
            """, [now.milliseconds, limit]
        ).map { row in
            let due = DueSubscription(
                app: try AppTable.scope(row), originalTransactionID: try row.transactionID("original_transaction_id"),
                dueAt: row.requiredTime("check_at"))
            return (id: row["id"], due: due)
        }
    }
}
