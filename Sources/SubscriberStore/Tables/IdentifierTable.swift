import OfferCore
import OfferEligibility

/// The accounts and Apple Accounts named by facts about a subscription, including facts that were later replaced.
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

    /// Returns the query for the `id` of purchases other than consumables, latest first.
    static func subscriptions(naming identifier: CustomerIdentifier, _ app: Int64, limit: Int) -> Query {
        let stored = StoredIdentifier(identifier)
        return Query(
            """
            SELECT subscription AS id FROM identifier WHERE app = ? AND kind = ? AND value = ?
            ORDER BY subscription DESC LIMIT ?
            """, [app, stored.kind, stored.value, limit])
    }

    /// Returns the query for the `id` and the `kind` of purchases, latest first. The `kind` distinguishes consumables.
    /// - Parameter limit: the maximum number of purchases of each kind.
    static func purchases(naming identifier: CustomerIdentifier, _ app: Int64, limit: Int) -> Query {
        let stored = StoredIdentifier(identifier)
        return Query(
            """
            SELECT * FROM (SELECT subscription AS id, kind FROM identifier WHERE app = ?1 AND kind = ?2 AND value = ?3
                ORDER BY subscription DESC LIMIT ?5) AS lasting
            UNION ALL
            SELECT * FROM (SELECT subscription AS id, kind FROM identifier WHERE app = ?1 AND kind = ?4 AND value = ?3
                ORDER BY subscription DESC LIMIT ?5) AS consumable
            ORDER BY id DESC
            """, [app, stored.kind, stored.value, stored.ofConsumable.kind, limit])
    }

    /// Returns the query for the `id` of purchases that name an account but not a given Apple Account.
    /// - Parameter appleAccount: nil selects all purchases of the account.
    static func purchases(
        naming account: CustomerIdentifier, butNot appleAccount: CustomerIdentifier?, _ app: Int64, limit: Int
    ) -> Query {
        let stored = StoredIdentifier(account)
        // No identifier has the kind 0.
        let other = appleAccount.map(StoredIdentifier.init) ?? StoredIdentifier(kind: 0, value: [])
        return Query(
            """
            SELECT subscription AS id FROM identifier AS named WHERE app = ?1 AND kind IN (?2, ?3) AND value = ?4
                AND NOT EXISTS (SELECT 1 FROM identifier AS other WHERE other.subscription = named.subscription
                    AND other.kind IN (?5, ?6) AND other.value = ?7)
            LIMIT ?8
            """,
            [
                app, stored.kind, stored.ofConsumable.kind, stored.value, other.kind, other.ofConsumable.kind,
                other.value, limit,
            ])
    }

    static func identifiers(of subscription: Int64, _ db: any Database) throws -> [CustomerIdentifier] {
        try db.rows("SELECT kind, value FROM identifier WHERE subscription = ?", [subscription])
            .compactMap(identifierIfAny)
    }

    /// Returns the identifiers of the purchases whose numbers are in a range.
    static func identifiers(
        of app: Int64, _ numbers: ClosedRange<Int64>, _ db: any Database
    ) throws -> Set<CustomerIdentifier> {
        try Set(
            db.rows(
                "SELECT kind, value FROM identifier WHERE +app = ? AND subscription BETWEEN ? AND ?",
                [app, numbers.lowerBound, numbers.upperBound]
            ).compactMap(identifierIfAny))
    }

    /// - Returns: nil if `kind` is NULL, as in a row added by an outer join.
    static func identifierIfAny(_ row: Row) throws -> CustomerIdentifier? {
        guard let kind: Int = try row["kind"] else { return nil }
        return try StoredIdentifier(kind: kind, value: try row["value"]).identifier()
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
    /// True if the fact is a transaction of a consumable. A customer may have thousands of them.
    var isOfConsumable: Bool {
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.type == .consumable
        case .renewalInfo, .fetchedRenewalInfo, .status, .refundRequest, .expiryReason, .wholeHistory,
            .firstAnnouncement,
            .lastAnnouncement, .renewalChange:
            false
        }
    }
}
