import OfferCore
import OfferEligibility

/// The links from identifiers to accounts that callers made.
enum LinkTable {
    static func set(_ link: CustomerLink, at now: Timestamp, _ app: Int64, _ db: any Database) throws {
        let identifier = StoredIdentifier(link.identifier)
        let account = StoredIdentifier(CustomerIdentifier(link.account))
        try db.send(
            """
            INSERT INTO link (app, kind, identifier, account_kind, account, set_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (app, kind, identifier) DO UPDATE
            SET account_kind = excluded.account_kind, account = excluded.account, set_at = excluded.set_at
            """,
            [app, identifier.kind, identifier.value, account.kind, account.value, now.milliseconds])
    }

    static func remove(_ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        try IdentifierQueries.deleteRows(of: identifier, in: "link", app, db)
    }

    /// Moves the link of one identifier to another, unless the other has a later link.
    static func move(
        _ identifier: CustomerIdentifier, to other: CustomerIdentifier, _ app: Int64, _ db: any Database
    ) throws {
        let (stored, target) = (StoredIdentifier(identifier), StoredIdentifier(other))
        try db.send(
            """
            INSERT INTO link (app, kind, identifier, account_kind, account, set_at)
            SELECT app, CAST(?2 AS BIGINT), ?3, account_kind, account, set_at FROM link
            WHERE app = ?1 AND kind = ?4 AND identifier = ?5
            ON CONFLICT (app, kind, identifier) DO UPDATE
            SET account_kind = excluded.account_kind, account = excluded.account, set_at = excluded.set_at
            WHERE excluded.set_at > link.set_at
            """, [app, target.kind, target.value, stored.kind, stored.value])
        try remove(identifier, app, db)
    }

    /// Returns the queries for the links of identifiers to accounts.
    static func links(of identifiers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofIdentifiers.queries(about: identifiers, app)
    }

    private static let ofIdentifiers = IdentifierQueries(table: "link")

    /// Removes the links of all identifiers to an account.
    static func removeAll(to account: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let stored = StoredIdentifier(account)
        try db.send(
            "DELETE FROM link WHERE app = ? AND account_kind = ? AND account = ?", [app, stored.kind, stored.value])
    }

    /// The columns that ``link(_:)`` reads. The index by account contains these columns. With more columns, SQLite
    /// would read the links of all accounts of the app instead of looking up each link in the table.
    private static let columns = "kind, identifier, account_kind, account"

    /// Returns the query for the links of identifiers to an account.
    static func links(to account: CustomerIdentifier, _ app: Int64, limit: Int) -> Query {
        let stored = StoredIdentifier(account)
        return Query(
            "SELECT \(columns) FROM link WHERE app = ? AND account_kind = ? AND account = ? LIMIT ?",
            [app, stored.kind, stored.value, limit])
    }

    /// Returns the query for the link of an account to another account, and for the links of identifiers to the first
    /// account.
    static func links(ofAndTo account: CustomerIdentifier, _ app: Int64, limit: Int) -> Query {
        let stored = StoredIdentifier(account)
        return Query(
            """
            SELECT \(columns) FROM link WHERE app = ?1 AND kind = ?2 AND identifier = ?3
            UNION ALL
            SELECT * FROM (
                SELECT \(columns) FROM link WHERE app = ?1 AND account_kind = ?2 AND account = ?3 LIMIT ?4) AS linked
            """, [app, stored.kind, stored.value, limit])
    }

    static func link(_ row: Row) throws -> CustomerLink {
        let account = try StoredIdentifier(kind: try row["account_kind"], value: try row["account"]).identifier()
            .account
        guard let account else { throw StoreError.unreadable("account_kind") }
        return CustomerLink(
            identifier: try StoredIdentifier(kind: try row["kind"], value: try row["identifier"]).identifier(),
            account: account
        )
    }
}
