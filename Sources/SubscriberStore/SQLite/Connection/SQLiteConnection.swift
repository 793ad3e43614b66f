import GRDB

/// The settings of each connection to the database.
enum SQLiteConnection {
    static let maximumReaders = 4

    static func configuration(_ settings: SQLiteSettings) -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(settings.lockTimeout / .seconds(1))
        configuration.maximumReaderCount = maximumReaders
        configuration.prepareDatabase { db in
            if let trace = settings.trace { db.trace { trace("\($0)") } }
            try requireOurs(db)
            // Overwrites deleted content with zeroes if that needs no extra writes. An erasure always overwrites it.
            try db.execute(sql: "PRAGMA secure_delete = FAST")
            // 8 MiB, so that five connections stay far below the service's memory limit.
            try db.execute(sql: "PRAGMA cache_size = -8192")
        }
        return configuration
    }

    /// Prepares the only connection that writes. GRDB sets `synchronous` to NORMAL, which can lose the last commits in
    /// a power cut.
    static func prepareWriter(_ db: GRDB.Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
        // The log is moved into the database in steps of 4 MiB, during which changes wait. Larger steps write fewer
        // pages but cause noticeable waits: with 32 MiB, the p99 of decisions at 16 connections was 259 ms instead of
        // 15 ms. A second connection must never move the log, because SQLite before version 3.51.3 can then lose
        // commits (sqlite.org/wal.html#walresetbug).
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 1024")
        // The log grows during a backup. Afterwards, its file shrinks to 64 MiB.
        try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
    }

    /// Refuses the database of another program, or of a later version of this one, before anything is changed.
    static func requireOurs(_ db: GRDB.Database) throws {
        let id = try Int64.fetchOne(db, sql: "PRAGMA application_id")
        guard id == Schema.applicationID else {
            let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
            guard id == 0, tables == 0 else { throw StoreError(.foreign, "its application_id is \(id ?? 0)") }
            return
        }
        let version = try Schema.version(db)
        guard version <= Schema.latestVersion else {
            throw StoreError(.newerVersion(found: version, supported: Schema.latestVersion), "its schema is newer")
        }
    }
}
