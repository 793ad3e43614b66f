import NIOConcurrencyHelpers
import OfferPostgreSQL

/// A writer that makes changes in groups, on a few connections. All changes that are waiting when a connection becomes
/// free share a transaction.
///
/// Before a group changes anything, it locks the names in its scopes in the order of their numbers, so groups cannot
/// deadlock. The server holds the locks, so they apply to all processes and end with the transaction.
final class PostgreSQLWriter: Sendable {
    struct Change: PostgreSQLJob {
        let scope: ChangeScope
        let added: ContinuousClock.Instant
        /// Makes the change and returns the completion to call when it is durable.
        let perform: @Sendable (any Database) throws -> @Sendable () -> Void
        let reportFailure: @Sendable (StoreError) -> Void

        func fail(_ error: StoreError) { reportFailure(error) }
    }

    private typealias Outcome = Result<@Sendable () -> Void, StoreError>

    private let workers: PostgreSQLWorkers<Change>
    private let counted: NIOLockedValueBox<StoreCounts>

    /// The maximum size of a group. It bounds the time that a change waits for the rest of its group.
    private static let maximumGroup = 256
    /// The maximum number of attempts for a group that conflicts with another transaction.
    private static let maximumAttempts = 5

    init(_ gate: ConnectionGate, connections: Int) {
        let counted = NIOLockedValueBox(StoreCounts())
        self.counted = counted
        workers = PostgreSQLWorkers(
            connections, named: "store-write", through: gate, choose: Self.takeGroup,
            run: { Self.write($0, on: $1, counted) })
    }

    var counts: StoreCounts { counted.withLockedValue { $0 } }

    func close() { workers.close() }

    func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await withCheckedContinuation {
            (continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>) in
            workers.add(
                Change(
                    scope: scope, added: .now,
                    perform: { db in
                        let result = try change(db)
                        return { continuation.resume(returning: .success(result)) }
                    },
                    reportFailure: { continuation.resume(returning: .failure($0)) }))
        }.get()
    }

    /// Removes and returns the next changes that can share a transaction. A change with the scope `everything` has its
    /// own transaction.
    @Sendable private static func takeGroup(_ waiting: inout [Change]) -> [Change] {
        guard let first = waiting.first else { return [] }
        var count = 1
        if !first.scope.isEverything {
            count = waiting.prefix(maximumGroup).prefix { !$0.scope.isEverything }.count
        }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    private static func write(
        _ group: [Change], on connection: PostgreSQLConnection, _ counted: NIOLockedValueBox<StoreCounts>
    ) -> InterruptedJobs<Change>? {
        let outcomes: [Outcome]
        do throws(PostgreSQLError) { outcomes = try self.outcomes(of: group, on: connection, counted) } catch {
            // If COMMIT gets no answer, the changes may have been made. The database recognises a repeated change by
            // its key.
            return InterruptedJobs(jobs: group, error: StoreError(error))
        }
        let made = outcomes.count { if case .success = $0 { true } else { false } }
        if made > 0 { counted.withLockedValue { $0.add(changes: made) } }
        for (change, outcome) in zip(group, outcomes) {
            switch outcome {
            case .success(let complete): complete()
            case .failure(let error): change.fail(error)
            }
        }
        return nil
    }

    /// - Throws: an error if the connection broke.
    private static func outcomes(
        of group: [Change], on connection: PostgreSQLConnection, _ counted: NIOLockedValueBox<StoreCounts>
    ) throws(PostgreSQLError) -> [Outcome] {
        var attempt = 1
        while true {
            do throws(PostgreSQLError) {
                // A savepoint costs two round trips. Savepoints are needed only if a change fails, which is rare.
                if let outcomes = try commitTogether(group, connection) { return outcomes }
                return try commitSeparately(group, connection)
            } catch {
                guard connection.isUsable else { throw error }
                try connection.rollBack()
                let canRepeat = error.isConflict && attempt < maximumAttempts
                guard canRepeat else { return group.map { _ in .failure(StoreError(error)) } }
                attempt += 1
                counted.withLockedValue { $0.addRetry() }
            }
        }
    }

    /// Makes all changes in one transaction.
    /// - Returns: nil if a change failed. The transaction is then rolled back.
    private static func commitTogether(
        _ group: [Change], _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> [Outcome]? {
        try begin(group, connection)
        do {
            let database = PostgreSQLDatabase(connection: connection)
            let outcomes = try group.map { Outcome.success(try $0.perform(database)) }
            _ = try connection.execute("COMMIT")
            return outcomes
        } catch let error as PostgreSQLError where error.isConflict || !connection.isUsable {
            throw error
        } catch {
            try connection.rollBack()
            return nil
        }
    }

    /// Makes all changes in one transaction, in which each change can fail separately.
    private static func commitSeparately(
        _ group: [Change], _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> [Outcome] {
        try begin(group, connection)
        try connection.flush()
        let database = PostgreSQLDatabase(connection: connection)
        var outcomes: [Outcome] = []
        for change in group {
            try connection.send("SAVEPOINT change")
            do {
                let complete = try change.perform(database)
                // A failure of a queued statement must count for this change, not for the next one.
                try connection.flush()
                outcomes.append(.success(complete))
            } catch let error as PostgreSQLError where error.isConflict || !connection.isUsable {
                throw error
            } catch {
                try connection.rollBack(to: "change")
                outcomes.append(.failure(StoreError(error)))
            }
        }
        _ = try connection.execute("COMMIT")
        return outcomes
    }

    private static func begin(_ group: [Change], _ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        try connection.send("BEGIN ISOLATION LEVEL READ COMMITTED")
        try lock(group.map(\.scope), connection)
    }

    /// The number of the lock that changes share. A change with the scope `everything` holds it exclusively.
    static let everything: Int64 = 0x4F66_5367

    private static func lock(
        _ scopes: [ChangeScope], _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        guard !scopes.contains(where: \.isEverything) else {
            return try connection.send("SELECT pg_advisory_xact_lock($1)", [.integer(everything)])
        }
        let numbers = Set(scopes.flatMap(\.names).map(\.number)).sorted().map(String.init)
        // The first lock must be held before any other lock is taken.
        try connection.send(
            """
            WITH everything AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared($1) AS taken)
            SELECT count(pg_advisory_xact_lock(name)) FROM everything, unnest(CAST($2 AS bigint[])) AS name
            """, [.integer(everything), .text("{\(numbers.joined(separator: ","))}")])
    }
}

extension ChangeScope {
    var isEverything: Bool { if case .everything = self { true } else { false } }

    var names: Set<LockName> { if case .names(let names) = self { names } else { [] } }
}
