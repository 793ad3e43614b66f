import GRDB
package import OfferCore
import OfferFiles
import SystemPackage

/// The store in a SQLite database, for one process at a time.
///
/// One connection writes, in groups; up to four read, each from a snapshot, and never wait for the writer.
package final class SQLiteStore: SQLStore {
    let pool: DatabasePool
    let writer: GroupedWriter
    private let readers = BlockingThreads(named: "sqlite-read", maximum: SQLiteConnection.maximumReaders)

    /// Opens the database, or creates it.
    /// - Parameter isMigrating: true to migrate it to the latest version.
    package init(_ settings: SQLiteSettings, isMigrating: Bool = true) throws(StoreError) {
        let path = FilePath(settings.path)
        do {
            try PrivateFile.prepare(path)
            pool = try DatabasePool(
                path: settings.path, configuration: SQLiteConnection.configuration(settings))
            try pool.writeWithoutTransaction { db in
                try SQLiteConnection.prepareWriter(db)
                if isMigrating { try Schema.migrate(db) }
            }
        } catch {
            throw StoreError(error, path: path)
        }
        writer = GroupedWriter(pool)
    }

    package func close() throws(StoreError) {
        // GRDB closes the readers last, and a reader cannot move the log into the database. If this fails, for example because
        // another process reads, the log stays and no data is lost.
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        do { try pool.close() } catch { throw StoreError(error) }
    }

    package var counts: StoreCounts { writer.counts }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        guard !Task.isCancelled else { throw StoreError(CancellationError()) }
        return try await withTaskExecutorPreference(readers) { () async throws(StoreError) in try readHere(body) }
    }

    /// Reads on this thread.
    private func readHere<Result>(_ body: (any Database) throws -> Result) throws(StoreError) -> Result {
        do { return try pool.read { try body(SQLiteDatabase(connection: $0)) } } catch { throw StoreError(error) }
    }

    package var executor: (any TaskExecutor)? { readers }

    /// Changes are made one after the other, so each is exclusive.
    package func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await writer.write { try change(SQLiteDatabase(connection: $0)) }
    }
}

extension SQLiteStore {
    /// The log contains deleted data until it is moved into the database. While another process reads, moving it fails,
    /// and the next checkpoint does it.
    package func overwriteErased() async throws(StoreError) {
        _ = try? await pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    /// No other process works with the database.
    package func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool { true }

    package func release(_ work: SharedWork) async throws(StoreError) {}

    package func prunePartitions(
        receivedBefore: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> PartitionPruning? { nil }
}
