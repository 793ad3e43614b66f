import OfferSQLite

/// The settings of each connection to the database.
enum SQLiteSetup {
    /// The number of threads that read for requests, and so of their connections.
    static let maximumReaders = 4

    static func openPool(_ settings: SQLiteSettings) throws -> SQLitePool {
        let milliseconds = Int32(settings.lockTimeout / .milliseconds(1))
        return try SQLitePool(path: settings.path, lockTimeout: milliseconds) { connection in
            if let trace = settings.trace { connection.traceStatements(trace) }
            try requireOurs(connection)
            try connection.execute("PRAGMA foreign_keys = ON")
            // Overwrites deleted content with zeroes if that needs no extra writes. An erasure always overwrites it.
            try connection.execute("PRAGMA secure_delete = FAST")
            // 8 MiB, so that six connections stay far below the service's memory limit.
            try connection.execute("PRAGMA cache_size = -8192")
        }
    }

    /// - Parameter isCommand: true for a command, which may change the database beside the service.
    static func prepareWriter(_ db: SQLiteConnection, isCommand: Bool) throws {
        try db.execute("PRAGMA synchronous = FULL")
        // The log is moved into the database in steps of 4 MiB, during which changes wait. Larger steps write fewer
        // pages but cause noticeable waits: with 32 MiB, the p99 of decisions at 16 connections was 259 ms instead of
        // 15 ms. Two connections must never move the log at the same time, because SQLite before version 3.51.3 can
        // then lose commits (sqlite.org/wal.html#walresetbug). So a command moves it only at 256 MiB, a size that it
        // does not reach beside a service.
        try db.execute("PRAGMA wal_autocheckpoint = \(isCommand ? 65536 : 1024)")
        // The log grows during a backup. Afterwards, its file shrinks to 64 MiB.
        try db.execute("PRAGMA journal_size_limit = 67108864")
    }

    /// Refuses the database of another program, or of a later version of this one, before anything is changed.
    static func requireOurs(_ db: SQLiteConnection) throws {
        let id = try db.integers("PRAGMA application_id").first
        guard id == Schema.applicationID else {
            let tables = try db.integers("SELECT count(*) FROM sqlite_schema").first
            guard id == 0, tables == 0 else { throw StoreError(.foreign, "its application_id is \(id ?? 0)") }
            return
        }
        let version = try Schema.version(db)
        guard version <= Schema.latestVersion else {
            throw StoreError(.newerVersion(found: version, supported: Schema.latestVersion), "its schema is newer")
        }
    }
}
