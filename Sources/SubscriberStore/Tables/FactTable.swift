import Foundation
import OfferCore
import OfferEligibility

/// The current fact for each key. Announcements and renewal changes have their own tables, which the previous release does
/// not read.
enum FactTable {
    /// Stores each fact that replaces the stored fact with the same key, according to `SubscriberFact.replaces`.
    /// - Returns: for each fact, true if it was stored.
    static func merge(
        _ facts: [(fact: SubscriberFact, subscription: Int64)], _ db: any Database
    ) throws -> [Bool] {
        var kept = facts.map { _ in false }
        for (statement, places) in Dictionary(grouping: facts.indices, by: { statement(for: facts[$0].fact.key.kind) })
        {
            let changes = try db.changes(
                statement,
                forEach: places.map { place in
                    let (fact, subscription) = facts[place]
                    return [
                        subscription, fact.key.kind.rawValue, storedID(fact), fact.signedDate.milliseconds, fact.digest,
                        fact.encoded,
                    ]
                })
            for (place, change) in zip(places, changes) { kept[place] = change > 0 }
        }
        return kept
    }

    private static func statement(for kind: SubscriberFact.Kind) -> String {
        switch kind {
        case .firstAnnouncement: keepFirst
        case .lastAnnouncement: keepLast
        case .renewalChange: keepChange
        default: keepNewest
        }
    }

    private static let keepNewest = """
        \(insert(into: "fact"))
        WHERE excluded.signed_date > fact.signed_date
            OR (excluded.signed_date = fact.signed_date AND \(isGreater(than: "fact")))
        """

    private static let keepLast = """
        \(insert(into: "announcement"))
        WHERE excluded.signed_date > announcement.signed_date
            OR (excluded.signed_date = announcement.signed_date AND \(isGreater(than: "announcement")))
        """

    private static let keepChange = """
        \(insert(into: "renewal_change"))
        WHERE \(isGreater(than: "renewal_change"))
        """

    private static let keepFirst = """
        \(insert(into: "announcement"))
        WHERE excluded.signed_date < announcement.signed_date
            OR (excluded.signed_date = announcement.signed_date AND \(isGreater(than: "announcement")))
        """

    /// Returns the statement to which the condition for replacing a stored fact is added.
    private static func insert(into table: String) -> String {
        """
        INSERT INTO \(table) (subscription, kind, transaction_id, signed_date, digest, value) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (subscription, kind, transaction_id) DO UPDATE
        SET signed_date = excluded.signed_date, digest = excluded.digest, value = excluded.value
        """
    }

    /// Returns the comparison of facts with equal dates, as in `SubscriberFact.replaces`.
    private static func isGreater(than table: String) -> String {
        """
        (excluded.digest, length(excluded.value), excluded.value) > (\(table).digest, length(\(table).value), \(table).value)
        """
    }

    /// Returns the identifier to store. It is empty for the subscription's identifier, which most facts have.
    private static func storedID(_ fact: SubscriberFact) -> String {
        fact.key.id == fact.originalTransactionID ? "" : fact.key.id.string
    }

    /// Returns the query for the rows that ``fact(_:of:)`` reads.
    static func all(_ subscription: Int64) -> Query {
        Query(
            """
            SELECT kind, transaction_id, signed_date, digest, value FROM fact WHERE subscription = ?1
            UNION ALL SELECT kind, transaction_id, signed_date, digest, value FROM announcement WHERE subscription = ?1
            UNION ALL SELECT kind, transaction_id, signed_date, digest, value FROM renewal_change WHERE subscription = ?1
            """, [subscription])
    }

    static func all(_ subscription: Int64, of original: TransactionID, _ db: any Database) throws -> [SubscriberFact] {
        try db.rows([all(subscription)]).joined().map { try fact($0, of: original) }
    }

    static func fact(_ row: Row, of original: TransactionID) throws -> SubscriberFact {
        guard let kind = SubscriberFact.Kind(rawValue: try row["kind"]) else { throw StoreError.unreadable("kind") }
        let isOriginal = (try row["transaction_id"] as String).isEmpty
        let id = try isOriginal ? original : row.transactionID("transaction_id")
        do {
            return try SubscriberFact(
                key: SubscriberFact.Key(kind: kind, id: id), originalTransactionID: original,
                signedDate: try row.requiredTime("signed_date"), digest: try row["digest"], encoded: try row["value"])
        } catch {
            throw StoreError.unreadable("fact")
        }
    }

    static func delete(_ fact: SubscriberFact, _ subscription: Int64, _ db: any Database) throws {
        let table =
            switch fact.key.kind {
            case .firstAnnouncement, .lastAnnouncement: "announcement"
            case .renewalChange: "renewal_change"
            default: "fact"
            }
        try db.send(
            "DELETE FROM \(table) WHERE subscription = ? AND kind = ? AND transaction_id = ?",
            [subscription, fact.key.kind.rawValue, storedID(fact)])
    }

    /// Replaces the value of a stored fact with the value of another fact with the same key. The digest becomes the greatest
    /// one, so that the replaced reading does not return with the same JWS.
    static func replace(
        _ fact: SubscriberFact, with other: SubscriberFact, _ subscription: Int64, _ db: any Database
    ) throws {
        try db.send(
            "UPDATE fact SET value = ?, digest = ? WHERE subscription = ? AND kind = ? AND transaction_id = ?",
            [other.encoded, [UInt8](repeating: 0xFF, count: 32), subscription, fact.key.kind.rawValue, storedID(fact)])
    }

    /// Returns the query for the `id` of an app's subscriptions that have this transaction, but not as their first. The
    /// unary plus keeps SQLite from starting with all subscriptions of the app.
    static func subscriptions(withTransaction id: TransactionID, _ app: Int64) -> Query {
        Query(
            """
            SELECT DISTINCT subscription.id FROM fact JOIN subscription ON subscription.id = fact.subscription
            WHERE transaction_id = ? AND transaction_id != '' AND +app = ?
            """, [id.string, app])
    }
}
