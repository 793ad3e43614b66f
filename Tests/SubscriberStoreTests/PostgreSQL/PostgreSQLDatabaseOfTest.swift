import Foundation
import OfferPostgreSQL
import StoreTestSupport
import SubscriberStore

/// A database of the server that all tests share, with as many stores as a test wants.
struct PostgreSQLDatabaseOfTest: Sendable {
    let server: TestPostgreSQL
    let url: String

    init(_ server: TestPostgreSQL? = nil) throws {
        self.server = try server ?? TestPostgreSQL.shared.get()
        url = try self.server.makeDatabase()
    }

    var location: StoreLocation { .postgreSQL(url: url) }

    func open() throws -> PostgreSQLStore {
        try PostgreSQLStore(PostgreSQLSettings(url: url, writers: 2, readers: 1))
    }

    /// Opens stores as so many processes would.
    func open(_ count: Int) throws -> [PostgreSQLStore] { try (0..<count).map { _ in try open() } }

    func connect() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(to: PostgreSQLServer(url: url), timeout: .seconds(60))
    }

    func execute(_ sql: String) throws { try connect().run(sql) }

    func numbers(_ sql: String) throws -> [Int64] {
        try connect().executeOnce(sql).rows.compactMap { row in
            if case .integer(let value)? = row.first { value } else { nil }
        }
    }

    /// Ends all connections of stores to this database, as an operator or a failover would.
    func breakConnections() throws {
        try execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid != pg_backend_pid()
            """)
    }
}
