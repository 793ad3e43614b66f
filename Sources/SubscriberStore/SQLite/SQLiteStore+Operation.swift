import GRDB
import OfferFiles
import SystemPackage

extension SQLiteStore {
    package func probe() async throws(StoreError) {
        // There may be space for a page but not for a notification.
        let space = FileSystem.freeSpace(at: FilePath(pool.path).folder) ?? .max
        guard space >= Self.neededSpace else {
            throw StoreError(.diskFull, "only \(space) bytes are free")
        }
        // Rewrites the first page of the file.
        _ = try await writer.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
    }

    /// The space needed for a busy second's changes and their index entries.
    private static let neededSpace = 1 << 20

    package func check() async throws(StoreError) -> [String] {
        do { return try await pool.read(Self.faults) } catch { throw StoreError(error) }
    }

    static func faults(_ db: GRDB.Database) throws -> [String] {
        let faults = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        let orphans = try GRDB.Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
            "a row of \(row[0] as String) refers to a row of \(row[2] as String) that does not exist"
        }
        // A database of an older version has no counters.
        guard try db.tableExists("redemption_count") else { return faults + orphans }
        let miscounts = try GRDB.Row.fetchAll(db, sql: RedemptionTable.miscounted).map { row in
            RedemptionTable.miscount(
                of: row["offer_id"], row["product_id"], counted: row["counted"], found: row["found"])
        }
        guard try db.tableExists("offer_day") else { return faults + orphans + miscounts }
        let days = try GRDB.Row.fetchAll(db, sql: OfferActivityTable.miscounted).map { row in
            OfferActivityTable.miscount(
                of: row["offer_id"], row["product_id"], kind: row["kind"], counted: row["counted"], found: row["found"])
        }
        let links = try GRDB.Row.fetchAll(db, sql: MailedLinkTable.miscounted).map { row in
            MailedLinkTable.miscount(of: row["campaign"], counted: row["counted"], found: row["found"])
        }
        return faults + orphans + miscounts + days + links
    }
}
