import FoundationEssentials

/// Where the database is: the value of `SUBSCRIPTION_OFFERS_DATABASE`.
package enum StoreLocation: Hashable, Sendable {
    case sqlite(path: String)

    /// - Parameter text: `sqlite:PATH`.
    package init?(_ text: String) {
        let path = text.dropFirst(Self.sqlitePrefix.count)
        guard text.hasPrefix(Self.sqlitePrefix), !path.isEmpty, !path.contains("\0") else { return nil }
        self = .sqlite(path: String(path))
    }

    private static let sqlitePrefix = "sqlite:"

    /// Opens the database. Blocks while it does.
    package func open(_ opening: StoreOpening = .migrating) throws(StoreError) -> any SubscriberStore {
        if opening != .migrating { try require(opening) }
        return switch self {
        case .sqlite(let path): try SQLiteStore(SQLiteSettings(path: path), isMigrating: opening == .migrating)
        }
    }

    private func require(_ opening: StoreOpening) throws(StoreError) {
        guard case .exists(let version) = try inspect() else {
            throw StoreError(.unreachable, "there is no database at \(self)")
        }
        guard opening == .anyVersion || version == Self.latestVersion else {
            throw StoreError(.olderVersion(found: version, needed: Self.latestVersion), "its schema is older")
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
    package var description: String {
        switch self {
        case .sqlite(let path): Self.sqlitePrefix + path
        }
    }
}
