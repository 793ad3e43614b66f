import Dispatch
import NIOConcurrencyHelpers

/// The connections of a process to one database in WAL mode: one that writes, and several that read.
///
/// Readers do not wait for the writer. Each sees the database as it was at its first read.
package final class SQLitePool: Sendable {
    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    package let path: String
    private let writer: SQLiteConnection
    private let queue = DispatchQueue(label: "sqlite-write")
    private let readers = NIOLockedValueBox(Readers())
    private let makeConnection: @Sendable (SQLiteConnection.Access) throws -> SQLiteConnection

    /// - Parameter prepare: sets up each connection, and may refuse the database before anything in it is changed.
    package init(
        path: String, lockTimeout: Int32, _ prepare: @escaping @Sendable (SQLiteConnection) throws -> Void
    ) throws {
        self.path = path
        makeConnection = { access in
            let connection = try SQLiteConnection(path: path, access, lockTimeout: lockTimeout)
            try prepare(connection)
            return connection
        }
        writer = try makeConnection(.readWrite)
        let mode = try writer.texts("PRAGMA journal_mode = WAL").first ?? ""
        guard mode == "wal" else {
            throw SQLiteError(code: SQLiteError.cannotOpen, message: "the journal mode stays \(mode)")
        }
    }

    /// Calls `body` in a read transaction. There are as many connections as calls at the same time.
    package func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let idle = try readers.withLockedValue { readers in
            guard !readers.isClosed else { throw SQLiteError.closed }
            return readers.idle.popLast()
        }
        let reader = try idle ?? makeConnection(.readOnly)
        defer {
            // A reader whose transaction could not be ended would keep its old view, and the log.
            let isUsable = !reader.isInTransaction
            let isKept = readers.withLockedValue { readers in
                guard isUsable, !readers.isClosed else { return false }
                readers.idle.append(reader)
                return true
            }
            if !isKept { reader.close() }
        }
        return try reader.transaction(.deferred) { try body(reader) }
    }

    /// Calls `body` on the thread of the writer, and waits for it.
    package func write<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try queue.sync { try body(writer) }
    }

    /// Calls `body` on the thread of the writer, later.
    package func writeLater(_ body: @escaping @Sendable (SQLiteConnection) -> Void) {
        queue.async { body(self.writer) }
    }

    /// Closes the idle readers and then the writer. A reader in use is closed when its call ends. The last connection
    /// moves the log into the database unless another process uses it.
    package func close() {
        let idle = readers.withLockedValue { readers in
            defer { readers = Readers(isClosed: true) }
            return readers.idle
        }
        for reader in idle { reader.close() }
        queue.sync { writer.close() }
    }
}
