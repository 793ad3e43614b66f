import OfferPostgreSQL

/// The tables in PostgreSQL, as numbered migrations. A released migration never changes. It keeps everything that the
/// previous release still uses, so two releases can run side by side during an upgrade, and the older release can
/// restart.
enum PostgreSQLSchema {
    /// The schema that contains all tables. Only this program uses it.
    static let name = "offer_signer"

    /// The migrations, each with the lowest version that a program must know to use the database afterwards. The
    /// previous release must know that version, because it may restart during an upgrade.
    static let migrations: [(migration: Migration, neededVersion: Int)] = [
        (.initial, neededVersion: 1), (.retentionInPostgreSQL, neededVersion: 1),
        (.postgreSQLLedgerCoverage, neededVersion: 1), (.payloadBounds, neededVersion: 1),
        (.payloadBoundsHold, neededVersion: 1), (.payloadPartitions, neededVersion: 1),
        (.postgreSQLCoverage, neededVersion: 1),
        (.redemptionsInPostgreSQL, neededVersion: 1), (.exposuresInPostgreSQL, neededVersion: 1),
        (.retentionShownInPostgreSQL, neededVersion: 1), (.renewalChangesInPostgreSQL, neededVersion: 1),
        (.idempotentRequestsInPostgreSQL, neededVersion: 1), (.offerEventsInPostgreSQL, neededVersion: 1),
        (.consoleInPostgreSQL, neededVersion: 1), (.grantsInPostgreSQL, neededVersion: 1),
        (.accountsOfGrantsInPostgreSQL, neededVersion: 1), (.reportsInPostgreSQL, neededVersion: 1),
        (.mailedLinksInPostgreSQL, neededVersion: 1), (.offerDaysInPostgreSQL, neededVersion: 1),
        (.sampleSizesInPostgreSQL, neededVersion: 1), (.customerReviewsInPostgreSQL, neededVersion: 1),
        (.retentionCasesInPostgreSQL, neededVersion: 1), (.trackedFactsInPostgreSQL, neededVersion: 1),
        (.unannouncedOffersInPostgreSQL, neededVersion: 1),
    ]

    static var latestVersion: Int { migrations.count }

    /// The lock that makes processes that start together migrate one after the other.
    private static let lock: Int64 = 0x4F66_5368

    /// Returns the number of the last migration applied; 0 if there is none.
    static func version(_ connection: PostgreSQLConnection) throws -> Int {
        let database = PostgreSQLDatabase(connection: connection)
        let exists = try database.number(
            "SELECT count(*) FROM pg_tables WHERE schemaname = ? AND tablename = 'migration'", [name])
        guard exists == 1 else { return 0 }
        return Int(try database.number("SELECT max(number) FROM migration", []) ?? 0)
    }

    /// Refuses tables of another program, or of a later version of this one, before anything is changed.
    static func requireOurs(_ connection: PostgreSQLConnection) throws {
        guard connection.serverVersion >= 140_000 else {
            throw StoreError(.foreign, "the server is older than PostgreSQL 14")
        }
        let version = try version(connection)
        let tables = try PostgreSQLDatabase(connection: connection)
            .number("SELECT count(*) FROM pg_tables WHERE schemaname = ?", [name])
        guard version > 0 || tables == 0 else { throw StoreError(.foreign, "its schema \(name) has other tables") }
        guard version > latestVersion else { return }
        let needed = try PostgreSQLDatabase(connection: connection)
            .number("SELECT max(needed_version) FROM migration", [])
        guard let needed, needed <= latestVersion else {
            throw StoreError(.newerVersion(found: version, supported: latestVersion), "its schema is newer")
        }
    }

    /// Applies the missing migrations, each in its own transaction.
    /// - Parameter connection: a connection with a long time limit for statements.
    static func migrate(_ connection: PostgreSQLConnection) throws {
        let database = PostgreSQLDatabase(connection: connection)
        // Creating indexes on large tables takes time.
        try connection.run("SET statement_timeout = 0; SET lock_timeout = '60s'")
        for (number, (migration, neededVersion)) in zip(1..., migrations) {
            try connection.run("BEGIN")
            do {
                _ = try database.rows("SELECT pg_advisory_xact_lock(?)", [lock])
                // Another process may have applied the migration in the meantime.
                if try version(connection) < number { try apply(migration, number, neededVersion, connection) }
                try connection.run("COMMIT")
            } catch {
                try? connection.rollBack()
                throw error
            }
        }
    }

    private static func apply(
        _ migration: Migration, _ number: Int, _ neededVersion: Int, _ connection: PostgreSQLConnection
    ) throws {
        let database = PostgreSQLDatabase(connection: connection)
        let schemas = try database.number("SELECT count(*) FROM pg_namespace WHERE nspname = ?", [name])
        // An operator may have created the schema, because the service's role may not create it.
        if schemas == 0 { try connection.run("CREATE SCHEMA \(name)") }
        try connection.run(migration.sql)
        try database.send(
            "INSERT INTO migration (number, name, applied_at, needed_version) VALUES (?, ?, CURRENT_TIMESTAMP, ?)",
            [number, migration.name, neededVersion])
    }
}
