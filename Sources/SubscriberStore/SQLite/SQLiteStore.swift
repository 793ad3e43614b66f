package import OfferCore
import OfferFiles
import OfferSQLite
import SystemPackage

/// The store in a SQLite database, for one process at a time.
///
/// One connection writes changes in groups. Up to four connections read for requests, and one for ``BackgroundReading``, each
/// from a snapshot, and never wait for the writer.
package final class SQLiteStore: SQLStore {
    let pool: SQLitePool
    let writer: GroupedWriter
    private let readers = BlockingThreads(named: "sqlite-read", maximum: SQLiteSetup.maximumReaders)

    /// Opens the database. Creates the file if it does not exist.
    /// - Parameter isMigrating: true to create the tables, or migrate them to the latest version.
    package init(_ settings: SQLiteSettings, isMigrating: Bool = true) throws(StoreError) {
        let path = FilePath(settings.path)
        do {
            try PrivateFile.prepare(path)
            pool = try SQLiteSetup.openPool(settings)
            try pool.write { db in
                try SQLiteSetup.prepareWriter(db, isCommand: !isMigrating)
                if isMigrating { try Schema.migrate(db) }
            }
        } catch {
            throw StoreError(error, path: path)
        }
        writer = GroupedWriter(pool)
    }

    package func close() throws(StoreError) {
        // If the log cannot be moved into the database, for example because another process is reading, it stays and
        // no data is lost.
        pool.close()
    }

    package var counts: StoreCounts { writer.counts }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await readConnection { try body(SQLiteDatabase(connection: $0)) }
    }

    /// Reads on a thread of the readers, or of ``BackgroundReading``.
    func readConnection<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws(StoreError) -> Result {
        guard !Task.isCancelled else { throw StoreError(CancellationError()) }
        return try await withTaskExecutorPreference(BackgroundReading.threads ?? readers) {
            () async throws(StoreError) in
            do { return try pool.read(body) } catch { throw StoreError(error) }
        }
    }

    package var executor: (any TaskExecutor)? { readers }

    /// Changes are made one after the other, so every change is exclusive.
    package func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await writer.write { try change(SQLiteDatabase(connection: $0)) }
    }
}

extension SQLiteStore {
    /// Moves the log into the database, because the log contains deleted data until then. This fails while a long read
    /// lasts, because changes must not wait for it; the next checkpoint then moves the log.
    package func overwriteErased() async throws(StoreError) {
        await withCheckedContinuation { continuation in
            pool.writeLater { connection in
                try? connection.truncateLog(waitingForReaders: 50)
                continuation.resume()
            }
        }
    }

    /// Always returns true, because no other process uses the database.
    package func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool { true }

    package func release(_ work: SharedWork) async throws(StoreError) {}

    package func prunePartitions(
        receivedBefore: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> PartitionPruning? { nil }
}
