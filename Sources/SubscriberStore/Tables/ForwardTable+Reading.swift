import OfferCore

extension ForwardTable {
    /// Lists the due entries and makes them due again at the end of the lease.
    static func claim(
        _ receiver: Int64, dueAt now: Timestamp, leaseEnd: Timestamp, limit: Int, _ db: any Database
    ) throws -> [Forward] {
        let forwards = try db.rows(
            "\(selection) WHERE receiver = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?",
            [receiver, now.milliseconds, limit]
        ).map(forward)
        // Another process may have settled an entry in the meantime.
        let claimed = try db.changes(
            "UPDATE forward SET due_at = ? WHERE id = ? AND due_at <= ?",
            forEach: forwards.map { [leaseEnd.milliseconds, $0.id.number, now.milliseconds] })
        return zip(forwards, claimed).filter { $1 > 0 }.map(\.0)
    }

    static func deadLetters(after: Int64, limit: Int, _ db: any Database) throws -> [DeadLetter] {
        try db.rows(
            "\(selection) WHERE forward.id > ? AND died_at IS NOT NULL ORDER BY forward.id LIMIT ?", [after, limit]
        ).map { DeadLetter(forward: try forward($0), diedAt: try $0.requiredTime("died_at")) }
    }

    static func oldestPending(_ receiver: Int64, _ db: any Database) throws -> Timestamp? {
        try db.row(
            """
            SELECT coalesce(payload.received_at, forward.created_at) AS began_at
            FROM forward LEFT JOIN payload ON payload.notification = forward.payload
            WHERE receiver = ? AND died_at IS NULL ORDER BY forward.id LIMIT 1
            """, [receiver])?.time("began_at")
    }

    static func entries(of payload: Int64, _ db: any Database) throws -> [ForwardEntry] {
        try db.rows(
            """
            SELECT url, failures, died_at FROM forward JOIN receiver ON receiver.id = forward.receiver
            WHERE payload = ? ORDER BY url
            """, [payload]
        ).map { ForwardEntry(receiver: try $0["url"], failures: try $0["failures"], diedAt: try $0.time("died_at")) }
    }

    private static let selection = """
        SELECT forward.id AS forward, forward.failures, forward.died_at, forward.event, forward.created_at, receiver.url,
            coalesce(payload.body, forward.body) AS body, bundle_id, environment, original_transaction_id, notification.*
        FROM forward JOIN receiver ON receiver.id = forward.receiver
            LEFT JOIN payload ON payload.notification = forward.payload
            LEFT JOIN notification ON notification.id = forward.payload
            JOIN app ON app.id = coalesce(notification.app, forward.app)
            LEFT JOIN subscription ON subscription.id = coalesce(forward.customer, forward.subscription)
        """

    private static func forward(_ row: Row) throws -> Forward {
        let app = try AppTable.scope(row)
        let isInQueue = try (row["original_transaction_id"] as String?) != nil
        let original = try isInQueue ? row.transactionID("original_transaction_id") : nil
        let event: [UInt8]? = try row["event"]
        let content: Forward.Content
        if let event {
            guard let id = UUIDText(bytes: event) else { throw StoreError.unreadable("event") }
            content = .event(id, at: try row.requiredTime("created_at"))
        } else {
            content = .notification(try NotificationTable.record(row))
        }
        return Forward(
            id: Forward.ID(number: try row["forward"], queue: original.map { .subscription($0, app) }), app: app,
            content: content, body: try row["body"], receiver: try row["url"], failures: try row["failures"])
    }
}
