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
}

extension StoreLocation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sqlite(let path): Self.sqlitePrefix + path
        }
    }
}
