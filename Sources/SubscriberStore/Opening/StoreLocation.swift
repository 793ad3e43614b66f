import Foundation
import OfferPostgreSQL

/// Where the database is: the value of `SUBSCRIPTION_OFFERS_DATABASE`.
package enum StoreLocation: Hashable, Sendable {
    case sqlite(path: String)
    case postgreSQL(url: String)

    /// - Parameter text: `sqlite:PATH`, or a connection URL of PostgreSQL. ``check()`` says whether libpq can read it.
    package init?(_ text: String) {
        if let prefix = Self.postgreSQLPrefixes.first(where: text.lowercased().hasPrefix), !text.contains("\0") {
            // libpq knows the scheme in lower case alone.
            self = .postgreSQL(url: prefix + text.dropFirst(prefix.count))
            return
        }
        let path = text.dropFirst(Self.sqlitePrefix.count)
        guard text.hasPrefix(Self.sqlitePrefix), !path.isEmpty, !path.contains("\0") else { return nil }
        self = .sqlite(path: String(path))
    }

    private static let sqlitePrefix = "sqlite:"
    private static let postgreSQLPrefixes = ["postgresql://", "postgres://"]

    /// Checks everything that needs no connection, so that a mistake shows before the service starts.
    package func check() throws(StoreError) {
        guard case .postgreSQL(let url) = self else { return }
        do { _ = try PostgreSQLServer(url: url) } catch { throw StoreError(error) }
    }

    /// True if a password is part of the location, which must then not be shown to others.
    package var containsPassword: Bool {
        guard case .postgreSQL(let url) = self else { return false }
        return (try? PostgreSQLServer(url: url).containsPassword) ?? true
    }

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

extension StoreLocation: CustomStringConvertible, CustomReflectable {
    /// A URL without its user, its password and its settings.
    ///
    /// A password may contain any of `/ ? @` if its owner did not encode them. So an @ behind the first question mark leaves open
    /// where the password ends, and nothing is shown.
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
