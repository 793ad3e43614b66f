import OfferCore

/// The URLs of receivers, with counts of their waiting notifications.
enum ReceiverTable {
    static func id(of url: String, _ db: any Database) throws -> Int64? {
        try db.number("SELECT id FROM receiver WHERE url = ?", [url])
    }

    /// Returns the identifier of the receiver. Adds the receiver if it is new.
    static func makeID(of url: String, _ db: any Database) throws -> Int64 {
        if let id = try id(of: url, db) { return id }
        return try db.insert("INSERT INTO receiver (url) VALUES (?)", [url])
    }

    /// Adds to the counts. Each connection has its own row, so connections do not wait for each other.
    static func count(pending: Int, dead: Int, _ receiver: Int64, _ db: any Database) throws {
        try db.send(
            """
            INSERT INTO receiver_count (receiver, shard, pending, dead) VALUES (?, ?, ?, ?)
            ON CONFLICT (receiver, shard) DO UPDATE
            SET pending = receiver_count.pending + excluded.pending, dead = receiver_count.dead + excluded.dead
            """, [receiver, db.shard, pending, dead])
    }

    static func all(_ db: any Database) throws -> [Receiver] {
        try db.rows(
            """
            SELECT id, url, CAST(coalesce(sum(pending), 0) AS BIGINT) AS pending,
                CAST(coalesce(sum(dead), 0) AS BIGINT) AS dead
            FROM receiver LEFT JOIN receiver_count ON receiver_count.receiver = receiver.id GROUP BY id, url ORDER BY url
            """, []
        ).map { row in
            Receiver(
                url: try row["url"], pending: try row["pending"], dead: try row["dead"],
                oldestPending: try ForwardTable.oldestPending(try row["id"], db))
        }
    }
}
