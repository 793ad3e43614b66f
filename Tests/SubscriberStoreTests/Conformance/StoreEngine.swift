import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// An engine that the conformance suite runs against. A new engine is added to `all`.
struct StoreEngine: Sendable, CustomTestStringConvertible {
    let testDescription: String
    private let open: @Sendable () async throws -> OpenStore

    static let all: [StoreEngine] = [
        StoreEngine(testDescription: "SQLite") {
            let folder = try TemporaryFolder()
            return OpenStore(
                store: try SQLiteStore(SQLiteSettings(path: folder.path + "/store.sqlite")), resource: folder)
        },
        StoreEngine(testDescription: "PostgreSQL") {
            let server = try TestPostgreSQL.shared.get()
            let settings = PostgreSQLSettings(url: try server.makeDatabase(), writers: 2, readers: 1)
            return OpenStore(store: try PostgreSQLStore(settings), resource: server) { try PostgreSQLStore(settings) }
        },
    ]

    /// Runs a test with a new, empty store that two processes share, as far as the engine can be shared.
    @discardableResult func withSharedStore<Result>(_ body: ([any SubscriberStore]) async throws -> Result) async throws
        -> Result
    {
        let open = try await open()
        defer { try? open.store.close() }
        let another = try open.openAgain?()
        defer { try? another?.close() }
        return try await withExtendedLifetime(open) { try await body([open.store, another ?? open.store]) }
    }

    /// Runs a test with a new, empty store.
    @discardableResult func withStore<Result>(_ body: (any SubscriberStore) async throws -> Result) async throws
        -> Result
    {
        let open = try await open()
        defer { try? open.store.close() }
        // Also the resource lives until the test is over.
        return try await withExtendedLifetime(open) { try await body(open.store) }
    }
}

/// A store with what it needs to exist, such as a folder.
private struct OpenStore: Sendable {
    let store: any SubscriberStore
    let resource: any Sendable
    /// nil where only one process may have the database.
    var openAgain: (@Sendable () throws -> any SubscriberStore)?
}

private func withExtendedLifetime<Value, Result>(
    _ value: Value, _ body: () async throws -> Result
) async throws -> Result {
    let result = try await body()
    Swift.withExtendedLifetime(value) {}
    return result
}

extension SubscriberStore {
    /// The only customer with an identifier; nil if the identifier is unknown.
    func customer(
        _ identifier: CustomerIdentifier, _ environment: AppStoreEnvironment? = nil
    ) async throws -> StoredCustomer? {
        let customers = try await customers(known: identifier, bundleID: Sample.bundleID, environment: environment)
        try #require(customers.count <= 1)
        return customers.first
    }

    /// Everything stored, in an order that does not depend on that of arrival.
    func records() async throws -> [String] {
        let lines = Lines()
        try await forEachRecord { lines.add($0.line) }
        return lines.sorted
    }
}
