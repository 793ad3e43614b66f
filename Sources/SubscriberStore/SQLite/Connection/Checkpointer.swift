import GRDB
import NIOConcurrencyHelpers

/// Moves the log into the database while the writer goes on, through a connection of its own.
///
/// The writer does the same by itself when the log has grown, and what waits for it waits for hundreds of milliseconds then. After
/// this, little is left for it to move.
final class Checkpointer: Sendable {
    private struct State {
        /// Since the last one began.
        var changes = 0
        var isRunning = false
    }

    private let connection: DatabaseQueue
    private let state = NIOLockedValueBox(State())

    /// The number of changes after which the log is moved: some thousand pages, a few times before the writer would do it.
    private static let interval = 256

    init(path: String, _ configuration: Configuration) throws {
        connection = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Begins to move the log if enough has changed.
    /// - Parameter changes: what was committed since the last call.
    func note(changes: Int) {
        let begins = state.withLockedValue { state in
            state.changes += changes
            guard !state.isRunning, state.changes >= Self.interval else { return false }
            state = State(isRunning: true)
            return true
        }
        guard begins else { return }
        connection.asyncWriteWithoutTransaction { db in
            // What fails is done by the writer.
            _ = try? db.checkpoint(.passive)
            self.state.withLockedValue { $0.isRunning = false }
        }
    }

    /// Moves all of the log through the writer, and empties it, while nothing else moves it: of two that do, one fails.
    func empty(through pool: DatabasePool) async throws {
        try await connection.writeWithoutTransaction { _ in try Self.empty(through: pool) }
    }

    /// Waits until nothing is moved, and closes the connection. Then the writer moves what is left.
    func close(through pool: DatabasePool) {
        try? connection.close()
        // While another process reads, this fails, and the log stays. Nothing is lost.
        try? Self.empty(through: pool)
    }

    private static func empty(through pool: DatabasePool) throws {
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
}
