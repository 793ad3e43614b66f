import Foundation
import OfferCore

/// The raw payloads, and the subscriptions named in them.
enum PayloadTable {
    /// - Parameter notification: the row of the notification, which also identifies the payload.
    static func add(_ body: [UInt8], of notification: Int64, receivedAt: Timestamp, _ db: any Database) throws {
        try db.send(
            "INSERT INTO payload (notification, received_at, body) VALUES (?, ?, ?)",
            [notification, receivedAt.milliseconds, body])
    }

    static func addMention(of subscription: Int64, in payload: Int64, _ db: any Database) throws {
        try db.send(
            "INSERT INTO payload_subscription (payload, subscription) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [payload, subscription])
    }

    static func removeMentions(in payload: Int64, _ db: any Database) throws {
        try db.send("DELETE FROM payload_subscription WHERE payload = ?", [payload])
    }

    static func removeMentions(of subscription: Int64, _ db: any Database) throws {
        try db.send("DELETE FROM payload_subscription WHERE subscription = ?", [subscription])
    }

    static func app(of payload: Int64, _ db: any Database) throws -> Int64? {
        try db.number(
            "SELECT app FROM payload JOIN notification ON notification.id = notification WHERE notification = ?",
            [payload])
    }

    static func page(after: Int64, limit: Int, _ db: any Database) throws -> [StoredPayload] {
        try db.rows(
            """
            SELECT payload.notification AS payload, body, bundle_id, environment, notification.*
            FROM payload JOIN notification ON notification.id = payload.notification
                JOIN app ON app.id = notification.app
            WHERE payload.notification > ? ORDER BY payload.notification LIMIT ?
            """, [after, limit]
        ).map { row in
            StoredPayload(
                id: StoredPayload.ID(number: try row["payload"]), app: try AppTable.scope(row),
                notification: try NotificationTable.record(row), body: try row["body"])
        }
    }

    static func naming(_ subscription: Int64, _ db: any Database) throws -> [Int64] {
        try db.rows("SELECT payload FROM payload_subscription WHERE subscription = ?", [subscription])
            .map { try $0["payload"] }
    }

    /// Returns the `originalTransactionId` of each subscription that a payload names.
    static func subscriptions(in payload: Int64, _ db: any Database) throws -> [TransactionID] {
        try db.rows(
            """
            SELECT original_transaction_id
            FROM payload_subscription JOIN subscription ON subscription.id = payload_subscription.subscription
            WHERE payload = ? ORDER BY original_transaction_id
            """, [payload]
        ).map { try $0.transactionID("original_transaction_id") }
    }

    /// Returns the payloads received before a time, except payloads waiting to be forwarded.
    static func disposable(receivedBefore time: Timestamp, limit: Int, _ db: any Database) throws -> [Int64] {
        try db.rows(
            """
            SELECT notification FROM payload
            WHERE received_at < ? AND NOT EXISTS (
                SELECT 1 FROM forward WHERE forward.payload = notification AND died_at IS NULL)
            ORDER BY received_at LIMIT ?
            """, [time.milliseconds, limit]
        ).map { try $0["notification"] }
    }

    /// Deletes a payload and its remaining forwards.
    static func delete(_ payload: Int64, _ db: any Database) throws {
        for forward in try ForwardTable.all(of: payload, db) { try ForwardTable.delete(forward, db) }
        try removeMentions(in: payload, db)
        try db.send("DELETE FROM payload WHERE notification = ?", [payload])
    }
}
