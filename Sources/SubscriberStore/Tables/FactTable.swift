import Foundation
import OfferCore

/// The newest fact for each key.
enum FactTable {
    /// Keeps each fact that is the newest with its key, as `SubscriberFact.replaces` says.
    /// - Returns: whether each was kept.
    static func merge(
        _ facts: [(fact: SubscriberFact, subscription: Int64)], _ db: any Database
    ) throws -> [Bool] {
        try db.changes(
            """
            INSERT INTO fact (subscription, kind, transaction_id, signed_date, digest, value) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (subscription, kind, transaction_id) DO UPDATE
            SET signed_date = excluded.signed_date, digest = excluded.digest, value = excluded.value
            WHERE excluded.signed_date > fact.signed_date
                OR (excluded.signed_date = fact.signed_date AND excluded.digest > fact.digest)
            """,
            forEach: facts.map { fact, subscription in
                [
                    subscription, fact.key.kind.rawValue, storedID(fact), fact.signedDate.milliseconds, fact.digest,
                    fact.encoded,
                ]
            }
        ).map { $0 > 0 }
    }

    /// Most facts have the identifier of the subscription, which is not stored again.
    private static func storedID(_ fact: SubscriberFact) -> String {
        fact.key.id == fact.originalTransactionID ? "" : fact.key.id.string
    }

    /// Asks for what ``fact(_:of:)`` reads.
    static func all(_ subscription: Int64) -> Question {
        Question("SELECT * FROM fact WHERE subscription = ?", [subscription])
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
        try db.send(
            "DELETE FROM fact WHERE subscription = ? AND kind = ? AND transaction_id = ?",
            [subscription, fact.key.kind.rawValue, storedID(fact)])
    }

    /// Stores a fact in place of one with the same key.
    static func replace(
        _ fact: SubscriberFact, with other: SubscriberFact, _ subscription: Int64, _ db: any Database
    ) throws {
        try db.send(
            "UPDATE fact SET value = ? WHERE subscription = ? AND kind = ? AND transaction_id = ?",
            [other.encoded, subscription, fact.key.kind.rawValue, storedID(fact)])
    }

    /// Asks for the `id` of the subscriptions of an app that have a transaction with this identifier, other than their first. The unary
    /// plus keeps SQLite from beginning with all subscriptions of the app.
    static func subscriptions(withTransaction id: TransactionID, _ app: Int64) -> Question {
        Question(
            """
            SELECT DISTINCT subscription.id FROM fact JOIN subscription ON subscription.id = fact.subscription
            WHERE transaction_id = ? AND transaction_id != '' AND +app = ?
            """, [id.string, app])
    }
}
