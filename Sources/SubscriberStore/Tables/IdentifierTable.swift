import OfferCore

/// The accounts and Apple Accounts that facts about a subscription have named, also facts that were replaced since.
enum IdentifierTable {
    static func add(_ fact: SubscriberFact, _ subscription: Int64, _ app: Int64, _ db: any Database) throws {
        for identifier in identifiers(in: fact) { try add(identifier, subscription, app, db) }
    }

    static func remove(_ fact: SubscriberFact, _ subscription: Int64, _ app: Int64, _ db: any Database) throws {
        for identifier in identifiers(in: fact) { try delete(identifier, of: subscription, app, db) }
    }

    static func identifiers(in fact: SubscriberFact) -> [CustomerIdentifier] {
        [fact.appAccountToken.map { .appAccountToken($0) }, fact.appTransactionID.map { .appTransactionID($0) }]
            .compactMap { $0 }
    }

    static func add(
        _ identifier: CustomerIdentifier, _ subscription: Int64, _ app: Int64, _ db: any Database
    ) throws {
        let stored = StoredIdentifier(identifier)
        try db.change(
            "INSERT INTO identifier (app, kind, value, subscription) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [app, stored.kind, stored.value, subscription])
    }

    static func subscriptions(
        naming identifier: CustomerIdentifier, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [Int64] {
        let stored = StoredIdentifier(identifier)
        return try db.rows(
            "SELECT subscription FROM identifier WHERE app = ? AND kind = ? AND value = ? LIMIT ?",
            [app, stored.kind, stored.value, limit]
        ).map { try $0["subscription"] }
    }

    static func identifiers(of subscription: Int64, _ db: any Database) throws -> [CustomerIdentifier] {
        try db.rows("SELECT kind, value FROM identifier WHERE subscription = ?", [subscription]).map { row in
            try StoredIdentifier(kind: try row["kind"], value: try row["value"]).identifier()
        }
    }

    static func delete(
        _ identifier: CustomerIdentifier, of subscription: Int64, _ app: Int64, _ db: any Database
    ) throws {
        let stored = StoredIdentifier(identifier)
        try db.change(
            "DELETE FROM identifier WHERE app = ? AND kind = ? AND value = ? AND subscription = ?",
            [app, stored.kind, stored.value, subscription])
    }
}
