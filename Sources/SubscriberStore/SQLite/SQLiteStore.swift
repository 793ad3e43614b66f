import GRDB
import OfferFiles
import SystemPackage

/// The store in a SQLite database, for one process at a time.
///
/// One connection writes, in groups; up to four read, each from a snapshot, and never wait for the writer.
package final class SQLiteStore: SubscriberStore {
    let pool: DatabasePool
    let writer: GroupedWriter

    /// Opens the database, or creates it.
    /// - Parameter isMigrating: whether it is brought to the latest version.
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
        // another process reads, the log stays, and nothing is lost.
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        do { try pool.close() } catch { throw StoreError(error) }
    }

    package var writeCounts: WriteCounts { writer.counts }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        do { return try await pool.read(body) } catch { throw StoreError(error) }
    }
}
