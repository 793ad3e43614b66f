import OfferCore

/// The accounts and Apple Accounts that facts about a subscription have named, also facts that were replaced since.
enum IdentifierTable {
    static func add(_ fact: SubscriberFact, _ subscription: Int64, _ app: Int64, _ db: any Database) throws {
        for identifier in identifiers(in: fact) {
            try add(identifier, subscription, app, isOfConsumable: fact.isOfConsumable, db)
        }
    }

    static func remove(_ fact: SubscriberFact, _ subscription: Int64, _ app: Int64, _ db: any Database) throws {
        for identifier in identifiers(in: fact) { try delete(identifier, of: subscription, app, db) }
    }

    static func identifiers(in fact: SubscriberFact) -> [CustomerIdentifier] {
        [fact.appAccountToken.map { .appAccountToken($0) }, fact.appTransactionID.map { .appTransactionID($0) }]
            .compactMap { $0 }
    }

    static func add(
        _ identifier: CustomerIdentifier, _ subscription: Int64, _ app: Int64, isOfConsumable: Bool = false,
        _ db: any Database
    ) throws {
        let stored = isOfConsumable ? StoredIdentifier(identifier).ofConsumable : StoredIdentifier(identifier)
        try db.send(
            "INSERT INTO identifier (app, kind, value, subscription) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [app, stored.kind, stored.value, subscription])
    }

    /// Asks for the `id` of purchases other than consumables, the latest first.
    static func subscriptions(naming identifier: CustomerIdentifier, _ app: Int64, limit: Int) -> Question {
        purchases(naming: StoredIdentifier(identifier), app, limit: limit)
    }

    /// Asks for the `id` of consumables, the latest first.
    static func consumables(naming identifier: CustomerIdentifier, _ app: Int64, limit: Int) -> Question {
        purchases(naming: StoredIdentifier(identifier).ofConsumable, app, limit: limit)
    }

    private static func purchases(naming stored: StoredIdentifier, _ app: Int64, limit: Int) -> Question {
        Question(
            """
            SELECT subscription AS id FROM identifier WHERE app = ? AND kind = ? AND value = ?
            ORDER BY subscription DESC LIMIT ?
            """, [app, stored.kind, stored.value, limit])
    }

    /// Asks for what ``identifier(_:)`` reads.
    static func identifiers(of subscription: Int64) -> Question {
        Question("SELECT kind, value FROM identifier WHERE subscription = ?", [subscription])
    }

    static func identifiers(of subscription: Int64, _ db: any Database) throws -> [CustomerIdentifier] {
        try db.rows([identifiers(of: subscription)]).joined().map(identifier)
    }

    static func identifier(_ row: Row) throws -> CustomerIdentifier {
        try StoredIdentifier(kind: try row["kind"], value: try row["value"]).identifier()
    }

    static func delete(
        _ identifier: CustomerIdentifier, of subscription: Int64, _ app: Int64, _ db: any Database
    ) throws {
        let stored = StoredIdentifier(identifier)
        try db.send(
            "DELETE FROM identifier WHERE app = ? AND kind IN (?, ?) AND value = ? AND subscription = ?",
            [app, stored.kind, stored.ofConsumable.kind, stored.value, subscription])
    }
}

extension SubscriberFact {
    /// Whether the fact is a transaction of a consumable, of which a customer may have thousands.
    var isOfConsumable: Bool {
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.type == .consumable
        case .renewalInfo, .fetchedRenewalInfo, .status, .refundRequest, .expiryReason, .wholeHistory: false
        }
    }
}
