import Foundation
import GRDB
import SubscriberStore
import TestSupport

/// A SQLite store in a folder of its own, with a second connection for what no store would do.
struct TestDatabase: Sendable {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/store.sqlite"
    }

    func open(trace: (@Sendable (String) -> Void)? = nil) throws -> SQLiteStore {
        try SQLiteStore(SQLiteSettings(path: path, lockTimeout: .milliseconds(50), trace: trace))
    }

    /// Opens a connection without any of the store's settings.
    func connect() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // A test leaves a transaction open to hold its lock.
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    func execute(_ sql: String) throws {
        let connection = try connect()
        try connection.writeWithoutTransaction { try $0.execute(sql: sql) }
        try connection.close()
    }

    func fetch<Value: DatabaseValueConvertible>(_ sql: String) throws -> [Value] {
        let connection = try connect()
        defer { try? connection.close() }
        return try connection.read { try Value.fetchAll($0, sql: sql) }
    }
}

/// The error with which an operation fails; nil if it succeeds.
func failure(of operation: () async throws(StoreError) -> Void) async -> StoreError? {
    do {
        try await operation()
        return nil
    } catch {
        return error
    }
}

extension SQLiteStore {
    /// The error with which a delivery fails; nil if it is applied.
    func failure(applying delivery: Delivery) async -> StoreError? {
        do {
            _ = try await apply(delivery)
            return nil
        } catch {
            return error
        }
    }
}
