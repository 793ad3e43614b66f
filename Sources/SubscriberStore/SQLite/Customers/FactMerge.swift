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
        var names: Set<Name> = []
        for fact in facts {
            let original = fact.originalTransactionID
            let id = try ids[original] ?? SubscriptionTable.makeID(of: original, app, db)
            if ids.updateValue(id, forKey: original) == nil { subscriptions.append(id) }
            // Also for a fact that is not kept, so that the order of arrival does not matter.
            for identifier in IdentifierTable.identifiers(in: fact)
            where names.insert(Name(identifier: identifier, subscription: id)).inserted {
                try IdentifierTable.add(identifier, id, app, db)
            }
            if try FactTable.merge(fact, id, db) { changed.insert(original) }
        }
        for original in changed {
            if let id = ids[original] { try Self.schedule(id, original, db) }
        }
        return subscriptions
    }

    /// An identifier that facts about a subscription name.
    private struct Name: Hashable {
        let identifier: CustomerIdentifier
        let subscription: Int64
    }

    /// Works out when a subscription is checked.
    static func schedule(_ subscription: Int64, _ original: TransactionID, _ db: Database) throws {
        let facts = try FactTable.all(subscription, of: original, db)
        try SubscriptionTable.setCheck(subscription, NextCheck.time(after: facts), db)
    }
}
