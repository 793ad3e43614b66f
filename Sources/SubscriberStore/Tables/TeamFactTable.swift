import OfferCore
import OfferEligibility

/// Facts that the team's backend supplied, for each identifier that it used.
enum TeamFactTable {
    static func set(_ fact: TeamFact, _ app: Int64, _ db: any Database) throws {
        let identifier = StoredIdentifier(fact.identifier)
        let (type, value) = columns(fact.value)
        try db.send(
            """
            INSERT INTO team_fact (app, kind, identifier, name, type, value, set_at) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (app, kind, identifier, name) DO UPDATE
            SET type = excluded.type, value = excluded.value, set_at = excluded.set_at
            """,
            [
                app, identifier.kind, identifier.value, fact.name.description, type, value, fact.setAt.milliseconds,
            ])
    }

    static func remove(_ name: FieldText, of identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let identifier = StoredIdentifier(identifier)
        try db.send(
            "DELETE FROM team_fact WHERE app = ? AND kind = ? AND identifier = ? AND name = ?",
            [app, identifier.kind, identifier.value, name.description])
    }

    static func removeAll(of identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        try IdentifierQueries.deleteRows(of: identifier, in: "team_fact", app, db)
    }

    /// Returns the queries for the team facts about identifiers.
    static func all(of identifiers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofIdentifiers.queries(about: identifiers, app)
    }

    private static let ofIdentifiers = IdentifierQueries(table: "team_fact")

    /// Returns the query for one fact of one identifier.
    static func fact(of subject: TrackedFactTable.Subject, _ app: Int64) -> Query {
        Query(
            "SELECT * FROM team_fact WHERE app = ?1 AND kind = ?2 AND identifier = ?3 AND name = ?4",
            TrackedFactTable.key(of: subject, app))
    }

    static func all(of identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws -> [TeamFact] {
        try db.rows(all(of: [identifier], app)).joined().map(fact)
    }

    /// Returns the identifiers about which callers stored facts or links.
    static func withStatements(
        _ identifiers: [CustomerIdentifier], _ app: Int64, _ db: any Database
    ) throws -> [CustomerIdentifier] {
        let answers = try db.rows(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM team_fact WHERE app = ?1 AND kind = ?2 AND identifier = ?3)
                OR EXISTS (SELECT 1 FROM link WHERE app = ?1 AND kind = ?2 AND identifier = ?3)
                OR EXISTS (SELECT 1 FROM tracked_fact WHERE app = ?1 AND kind = ?2 AND identifier = ?3)
            """,
            forEach: identifiers.map { identifier in
                let stored = StoredIdentifier(identifier)
                return [app, stored.kind, stored.value]
            })
        return zip(identifiers, answers).filter { !$1.isEmpty }.map(\.0)
    }

    static func fact(_ row: Row) throws -> TeamFact {
        TeamFact(
            identifier: try StoredIdentifier(kind: try row["kind"], value: try row["identifier"]).identifier(),
            name: try row.text("name", maximumSize: TeamFact.maximumNameSize), value: try value(row),
            setAt: try row.requiredTime("set_at"))
    }

    static func columns(_ value: TeamFactValue) -> (type: Int, value: String) {
        switch value {
        case .text(let utf8): (1, String(decoding: utf8, as: UTF8.self))
        case .number(let utf8): (2, String(decoding: utf8, as: UTF8.self))
        case .bool(let value): (3, value ? "true" : "false")
        }
    }

    static func value(_ row: Row) throws -> TeamFactValue {
        let value: String = try row["value"]
        switch try row["type"] as Int {
        case 1: return .text(Array(value.utf8))
        case 2: return .number(Array(value.utf8))
        case 3: return .bool(value == "true")
        default: throw StoreError.unreadable("type")
        }
    }
}
