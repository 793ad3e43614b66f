import OfferCore
import OfferSQLite

/// The tables of the database, as numbered migrations. A released migration never changes.
enum Schema {
    /// The number that marks this program's databases in their header: the letters `OfSg`.
    static let applicationID: Int64 = 0x4F66_5367

    static let migrations: [Migration] = [
        .subscriptions, .notifications, .forwarding, .customers, .asking, .ledger, .ledgerOffers,
        .counts, .retention, .ledgerCoverage, .coverage, .redemptions, .exposures, .retentionShown, .renewalChanges,
        .idempotentRequests, .offerEvents, .console, .grants,
        .accountsOfGrants, .reports, .mailedLinks, .offerDays, .sampleSizes, .customerReviews,
        .retentionCases, .trackedFacts, .unannouncedOffers,
    ]

    static var latestVersion: Int { migrations.count }

    /// Returns the number of the last migration applied; 0 for a new database.
    static func version(_ db: SQLiteConnection) throws -> Int {
        guard try db.hasTable("migration") else { return 0 }
        return try db.integers("SELECT max(number) FROM migration").first.map(Int.init) ?? 0
    }

    /// Applies the missing migrations, each in its own transaction.
    /// - Parameter target: the number of the last migration to apply.
    static func migrate(_ db: SQLiteConnection, to target: Int = latestVersion) throws {
        guard try version(db) < target else { return }
        try db.transaction(.immediate) {
            try db.execute("PRAGMA application_id = \(applicationID)")
            try db.execute(
                """
                CREATE TABLE IF NOT EXISTS migration (
                    number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL
                ) STRICT
                """)
        }
        // Returns the 16 bytes of a UUID.
        try db.addFunction("uuid_bytes") { UUIDText(parsing: $0)?.bytes }
        for (number, migration) in zip(1...target, migrations) {
            try db.transaction(.immediate) {
                // The check is inside the transaction, because another process may have applied the migration in the
                // meantime.
                if try version(db) < number { try migration.apply(db, number: number) }
            }
        }
    }
}

struct Migration {
    let name: String
    let sql: String

    func apply(_ db: SQLiteConnection, number: Int) throws {
        try db.execute(sql)
        _ = try SQLiteDatabase(connection: db).change(
            "INSERT INTO migration (number, name, applied_at) VALUES (?, ?, datetime('now'))", [number, name])
    }
}
