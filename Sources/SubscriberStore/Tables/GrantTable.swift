import OfferCore
import OfferEligibility

/// The grants of offers to single customers.
enum GrantTable {
    /// Returns the queries for the rows that ``grant(_:)`` reads.
    static func all(of customers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofCustomers.queries(about: customers, app)
    }

    private static let ofCustomers = IdentifierQueries { kind, value in
        "SELECT * FROM offer_grant WHERE app = ?1 AND kind = \(kind) AND value = \(value)"
    }

    static func grant(_ row: Row) throws -> OfferGrant {
        let withdrawal = try act(row, "withdrawn")
        let approval: OfferGrant.Approval =
            if let act = try act(row, "approved") {
                .given(act)
            } else {
                try (row["needs_approval"] as Int64) != 0 ? .needed : .notNeeded
            }
        return OfferGrant(
            id: try id(row),
            subject: try StoredIdentifier(kind: try row["kind"], value: try row["value"]).recordedCustomer(),
            account: try account(row),
            productID: try row.productID, offerID: try row.offerID,
            purpose: OfferGrant.Purpose(
                reason: try row["reason"], note: try row["note"], ticket: try row["ticket"]),
            liftsLimits: try (row["lifts_limits"] as Int64) != 0,
            maker: OfferGrant.Person(try row["made_by"], subject: try row["made_by_subject"]),
            at: try row.requiredTime("at"), expiresAt: try row.requiredTime("expires_at"), approval: approval,
            withdrawal: withdrawal)
    }

    private static func account(_ row: Row) throws -> Customer? {
        guard let kind = try row["account_kind"] as Int64? else { return nil }
        let identifier = try StoredIdentifier(kind: Int(kind), value: try row["account_value"]).identifier()
        guard let account = identifier.account else { throw StoreError.unreadable("account_kind") }
        return account
    }

    private static func id(_ row: Row) throws -> UUIDText {
        guard let id = UUIDText(bytes: try row["id"]) else { throw StoreError.unreadable("id") }
        return id
    }

    private static func act(_ row: Row, _ name: String) throws -> OfferGrant.Act? {
        guard let at = try row.time("\(name)_at") else { return nil }
        return OfferGrant.Act(
            by: OfferGrant.Person(try row["\(name)_by"], subject: try row["\(name)_by_subject"]), at: at)
    }

    static func grant(_ id: UUIDText, _ app: Int64, _ db: any Database) throws -> OfferGrant? {
        try db.row("SELECT * FROM offer_grant WHERE id = ? AND app = ?", [id.bytes, app]).map(grant)
    }

    static func stored(_ id: UUIDText, _ db: any Database) throws -> StoredGrant? {
        try db.row(
            """
            SELECT offer_grant.*, bundle_id, environment FROM offer_grant JOIN app ON app.id = app
            WHERE offer_grant.id = ?
            """, [id.bytes]
        ).map { row in StoredGrant(app: try AppTable.scope(row), grant: try grant(row)) }
    }

    static func all(
        _ selection: GrantSelection, before time: Timestamp?, limit: Int, _ app: Int64, _ db: any Database
    ) throws -> [OfferGrant] {
        let end = time?.milliseconds ?? Int64.max
        let rows =
            switch selection {
            case .all:
                try db.rows(
                    """
                    SELECT * FROM offer_grant WHERE app = ? AND at < ? AND \(isByPerson) ORDER BY at DESC, id LIMIT ?
                    """, [app, end, limit])
            case .awaitingApproval(let now):
                try db.rows(
                    """
                    SELECT * FROM offer_grant
                    WHERE app = ? AND at < ? AND needs_approval = 1 AND approved_at IS NULL AND withdrawn_at IS NULL
                        AND expires_at > ?
                    ORDER BY at DESC, id LIMIT ?
                    """, [app, end, now.milliseconds, limit])
            }
        return try rows.map(grant)
    }

    /// Excludes the grants by links, which can number hundreds of thousands. It must equal the condition of the partial
    /// index.
    private static let isByPerson = "reason <> '\(OfferGrant.campaignReason)'"

    static func count(
        by person: OfferGrant.Person, since time: Timestamp, _ app: Int64, _ db: any Database
    ) throws -> Int {
        Int(
            try db.number(
                """
                SELECT count(*) FROM offer_grant
                WHERE app = ?1 AND at >= ?2 AND needs_approval = 0 AND (made_by = ?3 OR made_by_subject = ?4)
                    AND \(isByPerson)
                """, [app, time.milliseconds, person.name, person.subject]) ?? 0)
    }

    /// Adds a grant. A known grant gets only an approval and a withdrawal that it lacks.
    static func add(_ grant: OfferGrant, _ app: Int64, _ db: any Database) throws {
        let subject = StoredIdentifier(grant.subject)
        let account = grant.account.map { StoredIdentifier(CustomerIdentifier($0)) }
        let approval: OfferGrant.Act? = if case .given(let act) = grant.approval { act } else { nil }
        let withdrawal = grant.withdrawal
        try db.send(
            """
            INSERT INTO offer_grant
                (id, app, kind, value, account_kind, account_value, product_id, offer_id, reason, note, ticket,
                lifts_limits, made_by, made_by_subject, at, expires_at, needs_approval, approved_by,
                approved_by_subject, approved_at, withdrawn_by, withdrawn_by_subject, withdrawn_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET \(missingActs)
            """,
            [
                grant.id.bytes, app, subject.kind, subject.value, account?.kind, account?.value,
                grant.productID.text.description,
                grant.offerID.text.description, grant.purpose.reason, grant.purpose.note, grant.purpose.ticket,
                grant.liftsLimits ? 1 : 0, grant.maker.name, grant.maker.subject, grant.at.milliseconds,
                grant.expiresAt.milliseconds, grant.approval == .notNeeded ? 0 : 1, approval?.person.name,
                approval?.person.subject, approval?.at.milliseconds, withdrawal?.person.name,
                withdrawal?.person.subject, withdrawal?.at.milliseconds,
            ])
    }

    /// The assignments that keep each act of a known grant, and add the new one to a grant that lacks it.
    private static let missingActs = ["approved", "withdrawn"].flatMap { act in
        ["by", "by_subject", "at"].map { part in
            """
            \(act)_\(part) = CASE WHEN offer_grant.\(act)_at IS NULL
                THEN excluded.\(act)_\(part) ELSE offer_grant.\(act)_\(part) END
            """
        }
    }.joined(separator: ", ")

    static func approve(_ id: UUIDText, _ act: OfferGrant.Act, _ db: any Database) throws {
        try db.send(
            "UPDATE offer_grant SET approved_by = ?, approved_by_subject = ?, approved_at = ? WHERE id = ?",
            [act.person.name, act.person.subject, act.at.milliseconds, id.bytes])
    }

    static func withdraw(_ id: UUIDText, _ act: OfferGrant.Act, _ db: any Database) throws {
        try db.send(
            "UPDATE offer_grant SET withdrawn_by = ?, withdrawn_by_subject = ?, withdrawn_at = ? WHERE id = ?",
            [act.person.name, act.person.subject, act.at.milliseconds, id.bytes])
    }

    /// Removes a customer's identifier and what persons wrote about the customer. The grants give nothing any more, but
    /// they still count.
    static func erase(_ customer: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let (stored, erased) = (StoredIdentifier(customer), StoredIdentifier.erased())
        // Two statements, because each has its own index.
        for (kind, value) in [("kind", "value"), ("account_kind", "account_value")] {
            try db.send(
                """
                UPDATE offer_grant
                SET kind = ?, value = ?, account_kind = NULL, account_value = NULL, note = NULL, ticket = NULL
                WHERE app = ? AND \(kind) = ? AND \(value) = ?
                """, [erased.kind, erased.value, app, stored.kind, stored.value])
        }
    }
}
