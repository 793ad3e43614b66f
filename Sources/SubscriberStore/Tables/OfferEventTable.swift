import OfferCore
import OfferEligibility

/// The events that apps report about offers.
enum OfferEventTable {
    /// The numbers under which databases store the kinds.
    private static let kinds: [OfferEvent.Kind: Int64] = [
        .shown: 1, .dismissed: 2, .purchased: 3, .pending: 4, .failed: 5,
    ]

    /// Returns the queries for the newest rows, which ``events(_:)`` reads.
    static func all(of customers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofCustomers.queries(about: customers, app)
    }

    private static let ofCustomers = IdentifierQueries { kind, value in
        """
        SELECT * FROM (
            SELECT * FROM offer_event WHERE app = ?1 AND kind = \(kind) AND value = \(value)
            ORDER BY at DESC LIMIT \(OfferEvents.maximumCount)
        ) AS newest
        """
    }

    static func events(_ rows: [Row]) throws -> OfferEvents {
        var counts: [RecordedCustomer: Int] = [:]
        let events = try rows.map { row in
            let event = try event(row)
            counts[event.subject, default: 0] += 1
            return event
        }
        return OfferEvents(events, isComplete: counts.values.allSatisfy { $0 < OfferEvents.maximumCount })
    }

    static func event(_ row: Row) throws -> OfferEvent {
        let number: Int64 = try row["event"]
        guard let kind = kinds.first(where: { $0.value == number })?.key else { throw StoreError.unreadable("event") }
        let (identifierKind, value): (Int, [UInt8]) = (try row["kind"], try row["value"])
        return OfferEvent(
            subject: identifierKind == StoredIdentifier.erasedKind
                ? .erased(value)
                : .customer(try StoredIdentifier(kind: identifierKind, value: value).identifier()),
            kind: kind, productID: try row.productID, offerID: try row.offerID, at: try row.requiredTime("at"),
            error: try row["error"], nonce: try AuthorisationTable.optionalNonce(row, "nonce"))
    }

    /// Adds an event, unless it is known: of a signature, each kind of event counts once.
    static func add(_ event: OfferEvent, _ app: Int64, _ db: any Database) throws {
        let subject =
            switch event.subject {
            case .customer(let identifier): StoredIdentifier(identifier)
            case .erased(let value): StoredIdentifier(kind: StoredIdentifier.erasedKind, value: value)
            }
        if let nonce = event.nonce {
            let known = try db.number(
                """
                SELECT count(*) FROM offer_event WHERE app = ? AND kind = ? AND value = ? AND nonce = ? AND event = ?
                """, [app, subject.kind, subject.value, "\(nonce)", kinds[event.kind]])
            guard known == 0 else { return }
        }
        try db.send(
            """
            INSERT INTO offer_event (app, kind, value, at, event, product_id, offer_id, error, nonce)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                app, subject.kind, subject.value, event.at.milliseconds, kinds[event.kind],
                event.productID.text.description, event.offerID.text.description, event.error,
                event.nonce.map { "\($0)" },
            ])
    }

    /// Removes a customer's identifier from the events, which still count.
    static func erase(_ customer: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let (stored, erased) = (StoredIdentifier(customer), StoredIdentifier.erased())
        try db.send(
            "UPDATE offer_event SET kind = ?, value = ?, nonce = NULL WHERE app = ? AND kind = ? AND value = ?",
            [erased.kind, erased.value, app, stored.kind, stored.value])
    }
}
