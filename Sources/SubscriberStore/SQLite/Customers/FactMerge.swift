import GRDB
import OfferCore

/// The merging of facts into the subscriptions of one app.
struct FactMerge {
    let db: Database
    let app: Int64

    /// Merges facts and works out anew when their subscriptions are checked.
    /// - Returns: the subscriptions that the facts are about, in the order in which they are first named.
    func merge(_ facts: [SubscriberFact]) throws -> [Int64] {
        var subscriptions: [Int64] = []
        var ids: [TransactionID: Int64] = [:]
        var changed: Set<TransactionID> = []
        for fact in facts {
            let original = fact.originalTransactionID
            let id = try ids[original] ?? SubscriptionTable.makeID(of: original, app, db)
            if ids.updateValue(id, forKey: original) == nil { subscriptions.append(id) }
            // Also for a fact that is not kept, so that the order of arrival does not matter.
            try IdentifierTable.add(fact, id, app, db)
            if try FactTable.merge(fact, id, db) { changed.insert(original) }
        }
        for original in changed {
            if let id = ids[original] { try Self.schedule(id, original, db) }
        }
        return subscriptions
    }

    /// Works out when a subscription is checked.
    static func schedule(_ subscription: Int64, _ original: TransactionID, _ db: Database) throws {
        let facts = try FactTable.all(subscription, of: original, db)
        try SubscriptionTable.setCheck(subscription, NextCheck.time(after: facts), db)
    }
}
