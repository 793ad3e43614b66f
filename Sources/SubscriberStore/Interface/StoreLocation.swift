import Foundation

/// Where the database is: the value of `SUBSCRIPTION_OFFERS_DATABASE`.
package enum StoreLocation: Hashable, Sendable {
    case sqlite(path: String)
    case postgreSQL(url: String)

    /// - Parameter text: `sqlite:PATH`, or a connection URL of PostgreSQL.
    package init?(_ text: String) {
        if Self.postgreSQLPrefixes.contains(where: text.hasPrefix), !text.contains("\0") {
            self = .postgreSQL(url: text)
            return
        }
        let path = text.dropFirst(Self.sqlitePrefix.count)
        guard text.hasPrefix(Self.sqlitePrefix), !path.isEmpty, !path.contains("\0") else { return nil }
        self = .sqlite(path: String(path))
    }

    private static let sqlitePrefix = "sqlite:"
    private static let postgreSQLPrefixes = ["postgresql://", "postgres://"]

    /// Opens the database. Blocks while it does.
    package func open(_ opening: StoreOpening = .migrating) throws(StoreError) -> any SubscriberStore {
        if opening != .migrating { try require(opening) }
        return switch self {
        case .sqlite(let path): try SQLiteStore(SQLiteSettings(path: path), isMigrating: opening == .migrating)
        case .postgreSQL(let url): try PostgreSQLStore(PostgreSQLSettings(url: url), isMigrating: opening == .migrating)
        }
    }

    private func require(_ opening: StoreOpening) throws(StoreError) {
        guard case .exists(let version) = try inspect() else {
            throw StoreError(.unreachable, "there is no database at \(self)")
        }
        // A later version that can be used is no older one.
        guard opening == .anyVersion || version >= latestVersion else {
            throw StoreError(.olderVersion(found: version, needed: latestVersion), "its schema is older")
        }
    }
}

/// What may become of a database by opening it.
package enum StoreOpening: Hashable, Sendable {
    /// It is created or brought to the latest version if necessary.
    case migrating
    /// It must exist with the latest version, so that nothing is changed under an older program that uses it. Otherwise, a
    /// misspelt path would make an empty one.
    case latestVersion
    /// It must exist with a version that this program knows. Only a copy works with each.
    case anyVersion
}

extension StoreLocation: CustomStringConvertible {
    /// A URL without its user and its settings, which may contain a password although the engine refuses one.
    private static func withoutSecrets(_ url: String) -> String {
        guard let scheme = url.range(of: "://") else { return "postgresql:" }
        let rest = url[scheme.upperBound...].prefix { $0 != "?" }
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        return String(url[..<scheme.upperBound] + place)
    }

    package var description: String {
        switch self {
        case .sqlite(let path): Self.sqlitePrefix + path
        case .postgreSQL(let url): Self.withoutSecrets(url)
        }
    }
}
