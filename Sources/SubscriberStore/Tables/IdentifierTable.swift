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
        try db.change(
            "INSERT INTO identifier (app, kind, value, subscription) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [app, stored.kind, stored.value, subscription])
    }

    /// Purchases other than consumables.
    static func subscriptions(
        naming identifier: CustomerIdentifier, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [Int64] {
        try purchases(naming: StoredIdentifier(identifier), app, limit: limit, db)
    }

    static func consumables(
        naming identifier: CustomerIdentifier, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [Int64] {
        try purchases(naming: StoredIdentifier(identifier).ofConsumable, app, limit: limit, db)
    }

    /// The latest first.
    private static func purchases(
        naming stored: StoredIdentifier, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [Int64] {
        try db.rows(
            """
            SELECT subscription FROM identifier WHERE app = ? AND kind = ? AND value = ?
            ORDER BY subscription DESC LIMIT ?
            """, [app, stored.kind, stored.value, limit]
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
