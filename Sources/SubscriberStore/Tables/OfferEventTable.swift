import OfferCore
import OfferEligibility

/// The events that apps report about offers.
enum OfferEventTable {
    /// The numbers under which databases store the kinds.
    private static let kinds: [OfferEvent.Kind: Int64] = [
        .shown: 1, .dismissed: 2, .purchased: 3, .pending: 4, .failed: 5,
    ]

    /// Returns the queries for the rows that ``event(_:)`` reads.
    static func all(of customers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofCustomers.queries(about: customers, app)
    }

    private static let ofCustomers = IdentifierQueries { kind, value in
        "SELECT * FROM offer_event WHERE app = ?1 AND kind = \(kind) AND value = \(value)"
    }

    static func event(_ row: Row) throws -> OfferEvent {
        let number: Int64 = try row["event"]
        guard let kind = kinds.first(where: { $0.value == number })?.key else { throw StoreError.unreadable("event") }
        let isSigned = try !(row["nonce"] as String).isEmpty
        return OfferEvent(
            subject: try StoredIdentifier(kind: try row["kind"], value: try row["value"]).recordedCustomer(),
            kind: kind, productID: try row.productID, offerID: try row.offerID, at: try row.requiredTime("at"),
            error: try row["error"], nonce: isSigned ? try AuthorisationTable.nonce(row) : nil)
    }

    /// Adds an event, unless it is known: of a signature, each kind of event counts once.
    static func add(_ event: OfferEvent, _ app: Int64, _ db: any Database) throws {
        let subject = StoredIdentifier(event.subject)
        let key: [(any ColumnValue)?] = [
            app, subject.kind, subject.value, kinds[event.kind], event.productID.text.description,
            event.offerID.text.description,
        ]
        let known = try db.rows("SELECT at, nonce FROM offer_event WHERE \(sameOffer) ORDER BY at", key).map {
            (at: try $0["at"] as Int64, nonce: try $0["nonce"] as String)
        }
        let (at, nonce) = (event.at.milliseconds, event.nonce.map { "\($0)" } ?? "")
        guard !known.contains(where: { $0.nonce == nonce && (!nonce.isEmpty || $0.at == at) }) else { return }
        try db.send(
            """
            INSERT INTO offer_event (app, kind, value, event, product_id, offer_id, at, nonce, error)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, key + [at, nonce, event.error])
        guard known.count > OfferEvent.maximumCount else { return }
        // The first stays.
        let all = (known + [(at, nonce)]).sorted { ($0.at, $0.nonce) < ($1.at, $1.nonce) }
        for (at, nonce) in all.dropFirst().dropLast(OfferEvent.maximumCount) {
            try db.send("DELETE FROM offer_event WHERE \(sameOffer) AND at = ? AND nonce = ?", key + [at, nonce])
        }
    }

    private static let sameOffer =
        "app = ? AND kind = ? AND value = ? AND event = ? AND product_id = ? AND offer_id = ?"

    /// Removes a customer's identifier from the events, which still count.
    static func erase(_ customer: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let (stored, erased) = (StoredIdentifier(customer), StoredIdentifier.erased())
        // Two signatures may have an event in the same millisecond, so the nonces are replaced, not removed.
        let rows = try db.rows(
            "SELECT DISTINCT nonce FROM offer_event WHERE app = ? AND kind = ? AND value = ? AND nonce != ''",
            [app, stored.kind, stored.value])
        var random = SystemRandomNumberGenerator()
        for row in rows {
            try db.send(
                "UPDATE offer_event SET nonce = ? WHERE app = ? AND kind = ? AND value = ? AND nonce = ?",
                ["\(Nonce(using: &random))", app, stored.kind, stored.value, try row["nonce"] as String])
        }
        try db.send(
            "UPDATE offer_event SET kind = ?, value = ? WHERE app = ? AND kind = ? AND value = ?",
            [erased.kind, erased.value, app, stored.kind, stored.value])
    }
}
