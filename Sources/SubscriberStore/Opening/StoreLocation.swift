import Foundation
import OfferPostgreSQL

/// The location of the database: the value of `SUBSCRIPTION_OFFERS_DATABASE`.
package enum StoreLocation: Hashable, Sendable {
    case sqlite(path: String)
    case postgreSQL(url: String)

    /// - Parameter text: `sqlite:PATH`, or a PostgreSQL connection URL. ``check()`` checks whether libpq accepts it.
    package init?(_ text: String) {
        if let prefix = Self.postgreSQLPrefixes.first(where: text.lowercased().hasPrefix), !text.contains("\0") {
            // libpq accepts the scheme only in lower case.
            self = .postgreSQL(url: prefix + text.dropFirst(prefix.count))
            return
        }
        let path = text.dropFirst(Self.sqlitePrefix.count)
        guard text.hasPrefix(Self.sqlitePrefix), !path.isEmpty, !path.contains("\0") else { return nil }
        self = .sqlite(path: String(path))
    }

    private static let sqlitePrefix = "sqlite:"
    private static let postgreSQLPrefixes = ["postgresql://", "postgres://"]

    /// Checks everything that needs no connection, so that mistakes are found before the service starts.
    package func check() throws(StoreError) {
        guard case .postgreSQL(let url) = self else { return }
        do { _ = try PostgreSQLServer(url: url) } catch { throw StoreError(error) }
    }

    /// True if the location contains a password and must be kept secret.
    package var containsPassword: Bool {
        guard case .postgreSQL(let url) = self else { return false }
        return (try? PostgreSQLServer(url: url).containsPassword) ?? true
    }

    /// Opens the database. Blocks until it is open.
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
        // A later version is accepted if this program can use it.
        guard opening == .anyVersion || version >= latestVersion else {
            throw StoreError(.olderVersion(found: version, needed: latestVersion), "its schema is older")
        }
    }
}

/// The changes that opening a database may make.
package enum StoreOpening: Hashable, Sendable {
    /// The database is created or migrated to the latest version if necessary.
    case migrating
    /// The database must exist with the latest version. It is not migrated, because an older program may be using it,
    /// and not created, because its path may be misspelt.
    case latestVersion
    /// The database must exist with a version that this program knows. Only copying works with every version.
    case anyVersion
}

extension StoreLocation: CustomStringConvertible, CustomReflectable {
    /// Returns a URL without its user, password and settings.
    ///
    /// A password that is not percent-encoded may contain `/`, `?` or `@`. If an @ follows the first question mark, the
    /// end of the password is unknown, so only the scheme is shown.
    private static func withoutSecrets(_ url: String) -> String {
        guard let scheme = url.range(of: "://") else { return "postgresql:" }
        let rest = url[scheme.upperBound...]
        let place = rest.prefix { $0 != "?" }
        guard !rest[place.endIndex...].contains("@") else { return url[..<scheme.upperBound] + "…" }
        let shown = place.lastIndex(of: "@").map { place[place.index(after: $0)...] } ?? place
        return String(url[..<scheme.upperBound] + shown)
    }

    package var description: String {
        switch self {
        case .sqlite(let path): Self.sqlitePrefix + path
        case .postgreSQL(let url): Self.withoutSecrets(url)
        }
    }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension PostgreSQLSettings: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(StoreLocation.postgreSQL(url: url))" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
