import Foundation
import OfferCore
import OfferPostgreSQL

/// The store in a PostgreSQL database, for any number of processes.
///
/// Statements block, so they run on the store's own threads. Changes that wait at the same time share a transaction.
/// Each read sees a consistent snapshot.
package final class PostgreSQLStore: SQLStore {
    private struct Read: PostgreSQLJob {
        let added: ContinuousClock.Instant
        /// Reads and reports the result, or returns the error if the connection broke.
        let perform: @Sendable (PostgreSQLConnection) -> StoreError?
        let reportFailure: @Sendable (StoreError) -> Void

        func fail(_ error: StoreError) { reportFailure(error) }
    }

    /// The name of this process, for ``SharedWork``.
    let holder = UUID().uuidString
    private let server: PostgreSQLServer
    private let gate: ConnectionGate
    private let writer: PostgreSQLWriter
    private let readers: PostgreSQLWorkers<Read>

    /// Opens the database. Blocks until it is open.
    /// - Parameter isMigrating: true to create the tables, or migrate them to the latest version.
    package init(_ settings: PostgreSQLSettings, isMigrating: Bool = true) throws(StoreError) {
        let server: PostgreSQLServer
        do { server = try PostgreSQLServer(url: settings.url) } catch { throw StoreError(error) }
        let connection = try PostgreSQLConnection.open(server)
        do {
            try PostgreSQLSchema.requireOurs(connection)
            if isMigrating, try PostgreSQLSchema.version(connection) < PostgreSQLSchema.latestVersion {
                try PostgreSQLSchema.migrate(PostgreSQLConnection.open(server, timeout: .days(7)))
            }
        } catch { throw StoreError(error) }
        self.server = server
        gate = ConnectionGate(to: server)
        writer = PostgreSQLWriter(gate, connections: settings.writers)
        readers = PostgreSQLWorkers(
            settings.readers, named: "store-read", through: gate,
            choose: { $0.isEmpty ? [] : [$0.removeFirst()] },
            run: { reads, connection in
                reads.first?.perform(connection).map { InterruptedJobs(jobs: reads, error: $0) }
            })
    }

    package var counts: StoreCounts {
        var counts = writer.counts
        counts.roundTrips = gate.roundTrips
        return counts
    }

    package func close() throws(StoreError) {
        readers.close()
        writer.close()
    }

    package func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await writer.write(scope, change)
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await withCheckedContinuation {
            (continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>) in
            readers.add(
                Read(
                    added: .now,
                    perform: { connection in
                        let result = Self.snapshot(connection, body)
                        if case .failure(let error) = result, !connection.isUsable { return error }
                        continuation.resume(returning: result)
                        // The caller already has its result. If the connection breaks here, the next read replaces the
                        // connection.
                        try? connection.rollBack()
                        return nil
                    },
                    reportFailure: { continuation.resume(returning: .failure($0)) }))
        }.get()
    }

    /// Reads a snapshot on a connection and a thread of its own, without a time limit for statements.
    fileprivate func readSlowly<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        let server = server
        return try await withCheckedContinuation {
            (continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>) in
            Thread.detachNewThread {
                do throws(StoreError) {
                    let connection = try PostgreSQLConnection.open(server, timeout: .days(7))
                    do { try connection.run("SET statement_timeout = 0") } catch { throw StoreError(error) }
                    continuation.resume(returning: Self.snapshot(connection, body))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }.get()
    }

    private static func snapshot<Result>(
        _ connection: PostgreSQLConnection, _ body: (any Database) throws -> Result
    ) -> Swift.Result<Result, StoreError> {
        do {
            try connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return .success(try body(PostgreSQLDatabase(connection: connection)))
        } catch {
            return .failure(StoreError(error))
        }
    }
}

extension PostgreSQLStore {
    /// Always nil, because the store's threads run only jobs on their connections.
    package var executor: (any TaskExecutor)? { nil }

    /// Does nothing, because the server decides when to reuse the space of deleted rows.
    package func overwriteErased() async throws(StoreError) {}

    package func probe() async throws(StoreError) {
        try await write(.nothing) { db in
            try db.send(
                "INSERT INTO probe (shard, count) VALUES (?, 1) ON CONFLICT (shard) DO UPDATE SET count = probe.count + 1",
                [db.shard])
        }
    }

    /// PostgreSQL enforces foreign keys, except for partitioned payloads. Other possible faults are invalid indexes
    /// after a failed operation, and wrong counters after a manual change.
    /// Counting the rows of large tables takes minutes.
    package func check() async throws(StoreError) -> [String] {
        try await readSlowly { db in
            let indexes = try db.rows(
                """
                SELECT CAST(CAST(indexrelid AS regclass) AS text) AS name FROM pg_index
                WHERE NOT (indisvalid AND indisready) AND indrelid IN (
                    SELECT oid FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace))
                """, []
            ).map { "the index \(try $0["name"] as String) is not valid" }
            let orphans = try db.rows(
                """
                SELECT id FROM forward
                WHERE payload IS NOT NULL AND NOT EXISTS (SELECT 1 FROM payload WHERE payload.notification = forward.payload) LIMIT 100
                """, []
            ).map { "row \(try $0["id"] as Int64) of forward refers to a payload that does not exist" }
            let miscounts = try db.rows(RedemptionTable.miscounted, []).map { row in
                RedemptionTable.miscount(
                    of: try row["offer_id"], try row["product_id"], counted: try row["counted"], found: try row["found"]
                )
            }
            let days = try db.rows(OfferActivityTable.miscounted, []).map { row in
                OfferActivityTable.miscount(
                    of: try row["offer_id"], try row["product_id"], kind: try row["kind"], counted: try row["counted"],
                    found: try row["found"])
            }
            let links = try db.rows(MailedLinkTable.miscounted, []).map { row in
                MailedLinkTable.miscount(
                    of: try row["campaign"], counted: try row["counted"], found: try row["found"])
            }
            return indexes + orphans + miscounts + days + links
        }
    }

    package func backUp(
        to path: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws(StoreError) {
        throw StoreError(
            .notSupported(instead: "pg_dump --schema=\(PostgreSQLSchema.name)"), "PostgreSQL has its own tools")
    }
}
