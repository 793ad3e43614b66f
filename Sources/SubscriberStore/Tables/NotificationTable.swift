import OfferCore

/// All received notifications. The rows are never deleted, so a notification is applied only once.
enum NotificationTable {
    /// - Returns: nil if the notification is already known.
    static func add(_ notification: NotificationRecord, _ app: Int64, _ db: any Database) throws -> Int64? {
        try db.insertNew(
            """
            INSERT INTO notification (app, notification_uuid, type, subtype, signed_date, received_at)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (app, notification_uuid) DO NOTHING
            """,
            [
                app, notification.notificationUUID.description, notification.type, notification.subtype,
                notification.signedDate.milliseconds, notification.receivedAt.milliseconds,
            ])
    }

    /// Reads a row that has all columns of the table.
    static func record(_ row: Row) throws -> NotificationRecord {
        NotificationRecord(
            notificationUUID: try row.text("notification_uuid", maximumSize: 64), type: try row["type"],
            subtype: try row["subtype"], signedDate: try row.requiredTime("signed_date"),
            receivedAt: try row.requiredTime("received_at"))
    }
}
