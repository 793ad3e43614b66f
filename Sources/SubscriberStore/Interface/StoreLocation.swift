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

    /// Opens the database, which is created or brought to the latest version if necessary. Blocks while it does.
    package func open() throws(StoreError) -> any SubscriberStore {
        switch self {
        case .sqlite(let path): try SQLiteStore(SQLiteSettings(path: path))
        }
    }

    /// Opens a database that must exist. Otherwise, a misspelt path would make an empty one.
    package func openExisting() throws(StoreError) -> any SubscriberStore {
        switch self {
        case .sqlite(let path):
            guard FileManager.default.fileExists(atPath: path) else {
                throw StoreError(.unreachable, "there is no file \(path)")
            }
        }
        return try open()
    }
}

extension StoreLocation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sqlite(let path): Self.sqlitePrefix + path
        }
    }
}
