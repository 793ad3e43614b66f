import Foundation
import OfferSQLite
import TestSupport

@testable import SubscriberStore

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
    func connect() throws -> SQLiteConnection { try SQLiteConnection(path: path) }

    func execute(_ sql: String) throws { try connect().execute(sql) }

    func fetch<Value: ColumnValue>(_ sql: String) throws -> [Value] {
        try SQLiteDatabase(connection: connect()).rows(sql, []).compactMap { try Value($0.values[0]) }
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
