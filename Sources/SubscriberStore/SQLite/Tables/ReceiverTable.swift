import GRDB
import OfferCore

/// The URLs of receivers, with counts of what waits for them.
enum ReceiverTable {
    static func id(of url: String, _ db: Database) throws -> Int64? {
        try db.number("SELECT id FROM receiver WHERE url = ?", [url])
    }

    /// The identifier of the receiver, which is added if it is new.
    static func makeID(of url: String, _ db: Database) throws -> Int64 {
        if let id = try id(of: url, db) { return id }
        try db.change("INSERT INTO receiver (url) VALUES (?)", [url])
        return db.lastInsertedRowID
    }

    /// Changes the counts by the numbers given.
    static func count(pending: Int, dead: Int, _ receiver: Int64, _ db: Database) throws {
        try db.change(
            "UPDATE receiver SET pending = pending + ?, dead = dead + ? WHERE id = ?", [pending, dead, receiver])
    }

    static func all(_ db: Database) throws -> [Receiver] {
        try db.rows("SELECT * FROM receiver ORDER BY url", []).map { row in
            Receiver(
                url: row["url"], pending: row["pending"], dead: row["dead"],
                oldestPending: try ForwardTable.oldestPending(row["id"], db))
        }
    }
}
