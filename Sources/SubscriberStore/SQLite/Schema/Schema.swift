import Foundation
import GRDB
import OfferCore

/// The tables of the database, as numbered migrations. A released migration never changes.
enum Schema {
    /// The number that marks this program's databases in their header: the letters `OfSg`.
    static let applicationID: Int64 = 0x4F66_5367

    static let migrations: [Migration] = [
        .subscriptions, .notifications, .forwarding, .customers, .asking, .ledger, .ledgerOffers,
        .counts, .retention, .ledgerCoverage, .coverage, .redemptions, .exposures, .retentionShown, .renewalChanges,
        .idempotentRequests, .offerEvents, .console, .grants,
        .accountsOfGrants, .reports, .mailedLinks, .offerDays, .sampleSizes, .customerReviews,
        .retentionCases, .trackedFacts,
    ]

    static var latestVersion: Int { migrations.count }

    /// Returns the number of the last migration applied; 0 for a new database.
    static func version(_ db: GRDB.Database) throws -> Int {
        guard try db.tableExists("migration") else { return 0 }
        return try Int.fetchOne(db, sql: "SELECT max(number) FROM migration") ?? 0
    }

    /// Applies the missing migrations, each in its own transaction.
    /// - Parameter target: the number of the last migration to apply.
    static func migrate(_ db: GRDB.Database, to target: Int = latestVersion) throws {
        guard try version(db) < target else { return }
        try db.inTransaction(.immediate) {
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS migration (
                        number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL
                    ) STRICT
                    """)
            return .commit
        }
        db.add(function: uuidBytes)
        for (number, migration) in zip(1...target, migrations) {
            try db.inTransaction(.immediate) {
                // The check is inside the transaction, because another process may have applied the migration in the
                // meantime.
                if try version(db) < number { try migration.apply(db, number: number) }
                return .commit
            }
        }
    }
}

extension Schema {
    /// The SQL function `uuid_bytes(text)`, which returns the 16 bytes of a UUID, or NULL for any other text.
    private static let uuidBytes = DatabaseFunction("uuid_bytes", argumentCount: 1, pure: true) { values in
        guard let text = Data.fromDatabaseValue(values[0]), let uuid = UUIDText(parsing: Array(text)) else {
            return nil
        }
        return Data(uuid.bytes)
    }
}

struct Migration {
    let name: String
    let sql: String

    func apply(_ db: GRDB.Database, number: Int) throws {
        try db.execute(sql: sql)
        try db.execute(
            sql: "INSERT INTO migration (number, name, applied_at) VALUES (?, ?, datetime('now'))",
            arguments: [number, name])
    }
}
