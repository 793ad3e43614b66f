import OfferFiles
import OfferSQLite
import SystemPackage

extension SQLiteStore {
    package func probe() async throws(StoreError) {
        // There may be space for a page but not for a notification.
        let space = FileSystem.freeSpace(at: FilePath(pool.path).folder) ?? .max
        guard space >= Self.neededSpace else {
            throw StoreError(.diskFull, "only \(space) bytes are free")
        }
        // Rewrites the first page of the file.
        _ = try await writer.write { try $0.execute("PRAGMA application_id = \(Schema.applicationID)") }
    }

    /// The space needed for a busy second's changes and their index entries.
    private static let neededSpace = 1 << 20

    package func check() async throws(StoreError) -> [String] {
        try await readConnection(Self.faults)
    }

    static func faults(_ connection: SQLiteConnection) throws -> [String] {
        let db = SQLiteDatabase(connection: connection)
        let faults = try connection.texts("PRAGMA integrity_check").filter { $0 != "ok" }
        let orphans = try db.rows("PRAGMA foreign_key_check", []).map { row in
            "a row of \(try row["table"] as String) refers to a row of \(try row["parent"] as String) that does not exist"
        }
        // A database of an older version has no counters.
        guard try connection.hasTable("redemption_count") else { return faults + orphans }
        let miscounts = try db.rows(RedemptionTable.miscounted, []).map { row in
            RedemptionTable.miscount(
                of: try row["offer_id"], try row["product_id"], counted: try row["counted"], found: try row["found"])
        }
        guard try connection.hasTable("offer_day") else { return faults + orphans + miscounts }
        let days = try db.rows(OfferActivityTable.miscounted, []).map { row in
            OfferActivityTable.miscount(
                of: try row["offer_id"], try row["product_id"], kind: try row["kind"], counted: try row["counted"],
                found: try row["found"])
        }
        let links = try db.rows(MailedLinkTable.miscounted, []).map { row in
            MailedLinkTable.miscount(of: try row["campaign"], counted: try row["counted"], found: try row["found"])
        }
        return faults + orphans + miscounts + days + links
    }
}
