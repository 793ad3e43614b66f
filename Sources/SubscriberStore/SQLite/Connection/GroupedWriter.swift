import NIOConcurrencyHelpers
import OfferSQLite

/// A writer that makes changes in groups. All changes that arrive during a sync share the next transaction, and so the
/// next sync.
///
/// If a change fails, the group is repeated with a savepoint for each change, so the others do not fail. So a change
/// must affect only the database. The audit trail's `GroupCommit` differs: its entries have no results and fail
/// together.
final class GroupedWriter: Sendable {
    private struct Change: Sendable {
        /// Makes the change and returns the completion to call when it is durable.
        let perform: @Sendable (SQLiteConnection) throws -> @Sendable () -> Void
        let fail: @Sendable (StoreError) -> Void
    }

    /// The completion to call when the change is durable, or the reason why it failed.
    private typealias Outcome = Result<@Sendable () -> Void, StoreError>

    private struct State {
        var waiting: [Change] = []
        var isWriting = false
        var counts = StoreCounts()
    }

    private let pool: SQLitePool
    private let state = NIOLockedValueBox(State())

    /// Ends a transaction without its changes.
    private struct GivenUp: Error {}

    /// The maximum size of a group. It bounds the time that a change waits for the rest of its group.
    private static let maximumGroup = 256

    init(_ pool: SQLitePool) {
        self.pool = pool
    }

    /// The numbers of committed changes and transactions.
    var counts: StoreCounts { state.withLockedValue { $0.counts } }

    /// Makes a change. The change is durable when this function returns.
    func write<Result: Sendable>(
        _ change: @escaping @Sendable (SQLiteConnection) throws -> Result
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
        if isFirst { pool.writeLater { self.writeAll($0) } }
    }

    private func writeAll(_ db: SQLiteConnection) {
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

    private func write(_ group: ArraySlice<Change>, _ db: SQLiteConnection) {
        // A savepoint costs as much as a small change. Savepoints are needed only if a change fails, which is rare.
        let outcomes = commit(group, db, perform: performTogether) ?? commit(group, db, perform: performAlone) ?? []
        for (change, outcome) in zip(group, outcomes) {
            switch outcome {
            case .success(let complete): complete()
            case .failure(let error): change.fail(error)
            }
        }
    }

    /// Makes all changes in one transaction.
    /// - Returns: nil if `perform` returned nil.
    private func commit(
        _ group: ArraySlice<Change>, _ db: SQLiteConnection, perform: (Change, SQLiteConnection) throws -> Outcome?
    ) -> [Outcome]? {
        var outcomes: [Outcome] = []
        do {
            try db.transaction(.immediate) {
                for change in group {
                    guard let outcome = try perform(change, db) else { throw GivenUp() }
                    outcomes.append(outcome)
                }
            }
            state.withLockedValue { $0.counts.add(changes: group.count) }
        } catch is GivenUp {
            return nil
        } catch {
            let lost = StoreError(error)
            outcomes = outcomes.map { $0.flatMap { _ in .failure(lost) } }
            outcomes += repeatElement(.failure(lost), count: group.count - outcomes.count)
        }
        return outcomes
    }

    /// - Returns: nil if the change failed and the transaction can continue, so the other changes need not fail.
    /// - Throws: an error if the failure ended the transaction, as a full disk may do.
    private func performTogether(_ change: Change, _ db: SQLiteConnection) throws -> Outcome? {
        do { return .success(try change.perform(db)) } catch {
            guard db.isInTransaction else { throw error }
            return nil
        }
    }

    /// - Throws: an error if the failure ended the transaction, as a full disk may do.
    private func performAlone(_ change: Change, _ db: SQLiteConnection) throws -> Outcome? {
        do {
            return .success(try db.savepoint { try change.perform(db) })
        } catch {
            guard db.isInTransaction else { throw error }
            return .failure(StoreError(error))
        }
    }
}
