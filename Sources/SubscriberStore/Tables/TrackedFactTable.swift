import OfferCore
import OfferEligibility

/// The values of tracked facts over time, for each identifier that a caller used.
enum TrackedFactTable {
    /// A fact of one identifier.
    struct Subject: Hashable {
        let identifier: CustomerIdentifier
        let name: FieldText
    }

    /// Records the values that facts are about to get, unless they have them already.
    ///
    /// A fact that was set before it was tracked is recorded first, with the time at which it was set.
    /// - Parameter values: the last value of each fact; nil if it is removed.
    static func record(
        _ values: [Subject: TeamFactValue?], at now: Timestamp, _ app: Int64, _ db: any Database
    ) throws {
        let values = Array(values)
        guard !values.isEmpty else { return }
        let known = try db.rows(values.flatMap { [last(of: $0.key, app), TeamFactTable.fact(of: $0.key, app)] })
        for (place, (subject, value)) in values.enumerated() {
            var last = try known[2 * place].first.map(fact)
            if last == nil, let before = try known[2 * place + 1].first.map({ TrackedFact(try TeamFactTable.fact($0)) })
            {
                try add(before, app, db)
                last = before
            }
            guard last?.value != value || last.map({ now < $0.at }) ?? false else { continue }
            let new = TrackedFact(identifier: subject.identifier, name: subject.name, value: value, at: now)
            try add(new, app, db)
        }
    }

    private static func last(of subject: Subject, _ app: Int64) -> Query {
        Query("SELECT * FROM tracked_fact WHERE \(isOfSubject) ORDER BY day DESC LIMIT 1", key(of: subject, app))
    }

    private static let isOfSubject = "app = ?1 AND kind = ?2 AND identifier = ?3 AND name = ?4"

    static func key(of subject: Subject, _ app: Int64) -> [(any ColumnValue)?] {
        let stored = StoredIdentifier(subject.identifier)
        return [app, stored.kind, stored.value, subject.name.description]
    }

    /// Adds a value. The order in which values are added makes no difference.
    static func add(_ fact: TrackedFact, _ app: Int64, _ db: any Database) throws {
        let key = key(of: Subject(identifier: fact.identifier, name: fact.name), app)
        let (type, value) = fact.value.map(TeamFactTable.columns) ?? (removed, "")
        let at = fact.at.milliseconds
        let (quotient, rest) = at.quotientAndRemainder(dividingBy: millisecondsPerDay)
        try db.send(
            """
            INSERT INTO tracked_fact (app, kind, identifier, name, day, at, type, value)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (app, kind, identifier, name, day) DO UPDATE
            SET at = excluded.at, type = excluded.type, value = excluded.value
            WHERE (excluded.at, excluded.type, excluded.value)
                > (tracked_fact.at, tracked_fact.type, tracked_fact.value)
            """, key + [rest < 0 ? quotient - 1 : quotient, at, type, value])
        try db.send(
            """
            DELETE FROM tracked_fact WHERE \(isOfSubject)
                AND day < (SELECT day FROM tracked_fact WHERE \(isOfSubject) ORDER BY day DESC LIMIT 1 OFFSET ?5)
                AND day > (SELECT min(day) FROM tracked_fact WHERE \(isOfSubject))
            """, key + [TrackedFact.maximumCount - 2])
    }

    private static let millisecondsPerDay: Int64 = 86_400_000
    /// The type of the value of a fact that was removed.
    private static let removed = 0

    /// Moves the values that were recorded about one identifier to another.
    static func move(
        _ identifier: CustomerIdentifier, to other: CustomerIdentifier, _ app: Int64, _ db: any Database
    ) throws {
        for row in try db.rows(all(of: [identifier], app)).joined() {
            let fact = try fact(row)
            try add(TrackedFact(identifier: other, name: fact.name, value: fact.value, at: fact.at), app, db)
        }
        try removeAll(of: identifier, app, db)
    }

    static func removeAll(of identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        try IdentifierQueries.deleteRows(of: identifier, in: "tracked_fact", app, db)
    }

    /// Returns the queries for the rows that ``fact(_:)`` reads.
    static func all(of identifiers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofIdentifiers.queries(about: identifiers, app)
    }

    private static let ofIdentifiers = IdentifierQueries(table: "tracked_fact")

    static func fact(_ row: Row) throws -> TrackedFact {
        let isRemoved = try row["type"] as Int == removed
        return TrackedFact(
            identifier: try StoredIdentifier(kind: try row["kind"], value: try row["identifier"]).identifier(),
            name: try row.text("name", maximumSize: TeamFact.maximumNameSize),
            value: isRemoved ? nil : try TeamFactTable.value(row), at: try row.requiredTime("at"))
    }
}
