import GRDB
import NIOConcurrencyHelpers

/// Writes in groups: one transaction, and so one sync, for all changes that arrive while the last one is syncing.
///
/// Each change has its own savepoint, so one that fails does not fail the others. The audit trail's `GroupCommit` differs:
/// its entries have no results and are lost together.
final class GroupedWriter: Sendable {
    private struct Change: Sendable {
        /// Makes the change and returns what to call when it is durable.
        let perform: @Sendable (Database) throws -> @Sendable () -> Void
        let fail: @Sendable (StoreError) -> Void
    }

    /// What to call when the change is durable, or why it failed.
    private typealias Outcome = Result<@Sendable () -> Void, StoreError>

    private struct State {
        var waiting: [Change] = []
        var isWriting = false
        var counts = WriteCounts()
    }

    private let pool: DatabasePool
    private let state = NIOLockedValueBox(State())

    /// Bounds how long a change waits for others of its group.
    private static let maximumGroup = 256

    init(_ pool: DatabasePool) {
        self.pool = pool
    }

    /// How many changes and transactions were committed.
    var counts: WriteCounts { state.withLockedValue { $0.counts } }

    /// Makes a change. It is durable when this returns.
    func write<Result: Sendable>(
        _ change: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await withCheckedContinuation {
            (continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>) in
            add(
                Change(
                    perform: { db in
                        let result = try change(db)
                        return { continuation.resume(returning: .success(result)) }
                    },
                    fail: { continuation.resume(returning: .failure($0)) }))
        }.get()
    }

    private func add(_ change: Change) {
        let isFirst = state.withLockedValue { state in
            state.waiting.append(change)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { pool.asyncWriteWithoutTransaction { self.writeAll($0) } }
    }

    private func writeAll(_ db: Database) {
        while let group = takeGroup() { write(group, db) }
    }

    private func takeGroup() -> ArraySlice<Change>? {
        state.withLockedValue { state in
            state.isWriting = !state.waiting.isEmpty
            guard state.isWriting else { return nil }
            defer { state.waiting.removeFirst(min(Self.maximumGroup, state.waiting.count)) }
            return state.waiting.prefix(Self.maximumGroup)
        }
    }

    private func write(_ group: ArraySlice<Change>, _ db: Database) {
        var outcomes: [Outcome] = []
        do {
            try db.inTransaction(.immediate) {
                outcomes = try group.map { try perform($0, db) }
                return .commit
            }
            state.withLockedValue { $0.counts.add(changes: group.count) }
        } catch {
            let lost = StoreError(error)
            outcomes = outcomes.map { $0.flatMap { _ in .failure(lost) } }
            outcomes += repeatElement(.failure(lost), count: group.count - outcomes.count)
        }
        for (change, outcome) in zip(group, outcomes) {
            switch outcome {
            case .success(let complete): complete()
            case .failure(let error): change.fail(error)
            }
        }
    }

    /// - Throws: if the failure has ended the transaction, as that of a full disk may.
    private func perform(_ change: Change, _ db: Database) throws -> Outcome {
        do {
            var complete: @Sendable () -> Void = {}
            try db.inSavepoint {
                complete = try change.perform(db)
                return .commit
            }
            return .success(complete)
        } catch {
            guard db.isInsideTransaction else { throw error }
            return .failure(StoreError(error))
        }
    }
}
