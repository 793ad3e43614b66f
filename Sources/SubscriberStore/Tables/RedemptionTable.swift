import OfferCore

/// The redemptions of promotional offers that the App Store has shown, each counted once.
enum RedemptionTable {
    private struct Offer: Hashable {
        let productID: ProductID
        let offerID: String
    }

    /// The tolerance between Apple's clock and ours.
    private static let clockTolerance = Duration.seconds(300)

    /// Works out anew what a subscription has redeemed, and closes the authorisations that explain what is new.
    ///
    /// An offer shows in the renewal info first and in a transaction later. It keeps its row, so it counts once.
    /// - Parameter facts: all facts about the subscription.
    static func update(_ facts: [SubscriberFact], of subscription: Int64, _ db: any Database) throws {
        let byOffer = Dictionary(grouping: Redemption.promotional(in: facts)) {
            Offer(productID: $0.productID, offerID: $0.offerID)
        }
        for (offer, redemptions) in byOffer { try update(redemptions, of: offer, by: subscription, db) }
    }

    /// Finds the row of each redemption: first by its time, then, for one that has moved from the renewal info to its period, in the
    /// order of time. An older redemption that becomes known late has no row, and moves none of the others.
    private static func update(
        _ redemptions: [Redemption], of offer: Offer, by subscription: Int64, _ db: any Database
    ) throws {
        var rows = try db.rows(
            "SELECT id, at, ordinal FROM redemption WHERE subscription = ? AND offer_id = ? AND product_id = ? ORDER BY at, id",
            [subscription, offer.offerID, offer.productID.text.description]
        ).map { (id: try $0["id"] as Int64, at: try $0.requiredTime("at"), ordinal: try $0["ordinal"] as Int64) }
        let isNew = rows.count < redemptions.count
        var ordinal = (rows.map(\.ordinal).max() ?? -1) + 1
        var unmatched: [Redemption] = []
        for redemption in redemptions {
            if let place = rows.firstIndex(where: { $0.at == redemption.at }) {
                rows.remove(at: place)
            } else {
                unmatched.append(redemption)
            }
        }
        for redemption in unmatched {
            // A row moves later, when its period begins. Where there are more redemptions than before, an older one is new.
            let place = rows.firstIndex { !isNew || $0.at <= redemption.at }
            if let place {
                let row = rows.remove(at: place)
                try db.change("UPDATE redemption SET at = ? WHERE id = ?", [redemption.at.milliseconds, row.id])
            } else {
                try add(redemption, offer, ordinal, of: subscription, db)
                ordinal += 1
            }
        }
        for row in rows { try db.change("DELETE FROM redemption WHERE id = ?", [row.id]) }
    }

    /// Removes the redemptions of a subscription that no fact shows any more.
    static func removeAll(of subscription: Int64, _ db: any Database) throws {
        try db.change("DELETE FROM redemption WHERE subscription = ?", [subscription])
    }

    private static func add(
        _ redemption: Redemption, _ offer: Offer, _ ordinal: Int64, of subscription: Int64, _ db: any Database
    ) throws {
        let (productID, at) = (offer.productID.text.description, redemption.at.milliseconds)
        guard let app = try db.number("SELECT app FROM subscription WHERE id = ?", [subscription]) else { return }
        let explanation = try explanation(of: redemption, by: subscription, app, db)
        try db.change(
            """
            INSERT INTO redemption (app, subscription, product_id, offer_id, ordinal, at, first_at, authorisation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, [app, subscription, productID, offer.offerID, ordinal, at, at, explanation])
        if let explanation { try AuthorisationTable.setState(.redeemed, explanation, db) }
    }

    /// The oldest authorisation that can have led to a redemption, expired ones included.
    private static func explanation(
        of redemption: Redemption, by subscription: Int64, _ app: Int64, _ db: any Database
    ) throws -> Int64? {
        let holders =
            try [CustomerIdentifier.originalTransactionID(redemption.originalTransactionID)]
            + IdentifierTable.identifiers(of: subscription, db)
        let candidates = try AuthorisationTable.held(by: holders, app, db).filter { found in
            let authorisation = found.authorisation
            // The other form of a signature that was used explains nothing once it is worthless.
            if redemption.at >= authorisation.expiresAt + clockTolerance, try hasUsedTwin(found, db) { return false }
            return try isOpen(found, db) && authorisation.productID == redemption.productID
                && authorisation.offerID.text.description == redemption.offerID
                && authorisation.at <= redemption.at + clockTolerance
        }
        return candidates.min { ($0.authorisation.at, $0.id) < ($1.authorisation.at, $1.id) }?.id
    }

    /// Whether the other signature of the same answer has led to a redemption.
    private static func hasUsedTwin(_ found: AuthorisationTable.Found, _ db: any Database) throws -> Bool {
        try db.row(
            "SELECT 1 FROM authorisation WHERE (id = ?1 OR twin = ?2) AND id != ?2 AND state = 2",
            [found.twin, found.id]) != nil
    }

    /// Whether an authorisation has led to no redemption that is known. After an import, or after facts were removed, one can be
    /// called redeemed all the same.
    private static func isOpen(_ found: AuthorisationTable.Found, _ db: any Database) throws -> Bool {
        switch found.authorisation.state {
        case .outstanding: true
        case .withdrawn: false
        case .redeemed: try db.row("SELECT 1 FROM redemption WHERE authorisation = ?", [found.id]) == nil
        }
    }

    /// The columns that ``redemption(_:_:)`` reads.
    private static let columns = """
        SELECT redemption.*, authorisation.at AS authorised_at, original_transaction_id FROM redemption
            LEFT JOIN authorisation ON authorisation.id = redemption.authorisation
            LEFT JOIN subscription ON subscription.id = redemption.subscription
        """

    private static func redemption(_ row: Row, _ app: AppScope) throws -> LedgerRedemption {
        let original: String? = try row["original_transaction_id"]
        return LedgerRedemption(
            number: try row["id"], app: app,
            originalTransactionID: try original.map { _ in try row.transactionID("original_transaction_id") },
            productID: try row.productID, offerID: try row["offer_id"], at: try row.requiredTime("at"),
            authorisedAt: try row.time("authorised_at"))
    }

    /// The redemptions by some subscriptions, and those that authorisations explain.
    static func all(
        by subscriptions: Set<Int64>, explainedBy authorisations: [Int64], _ app: AppScope, _ db: any Database
    ) throws -> [LedgerRedemption] {
        var found: [Int64: LedgerRedemption] = [:]
        func add(_ rows: [Row]) throws { for row in rows { found[try row["id"]] = try redemption(row, app) } }
        for subscription in subscriptions {
            try add(db.rows("\(columns) WHERE redemption.subscription = ?", [subscription]))
        }
        for authorisation in authorisations {
            try add(db.rows("\(columns) WHERE redemption.authorisation = ?", [authorisation]))
        }
        return Array(found.values)
    }

    static func all(after number: Int64, limit: Int, _ db: any Database) throws -> [LedgerRedemption] {
        let apps = try AppTable.all(db)
        return try db.rows("\(columns) WHERE redemption.id > ? ORDER BY redemption.id LIMIT ?", [number, limit])
            .compactMap { row in try apps[try row["app"]].map { try redemption(row, $0) } }
    }

    static func last(_ db: any Database) throws -> Int64 {
        try db.number("SELECT coalesce(max(id), 0) FROM redemption", []) ?? 0
    }

    static func count(of productID: ProductID, _ offerID: OfferID, _ app: Int64, _ db: any Database) throws -> Int64 {
        try db.number(
            "SELECT count(*) FROM redemption WHERE app = ? AND offer_id = ? AND product_id = ?",
            [app, offerID.text.description, productID.text.description]) ?? 0
    }

    /// The oldest redemptions of an offer that need an authorisation and have none.
    static func unexplained(
        _ offer: LedgerOffer, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [LedgerRedemption] {
        try db.rows(
            """
            \(columns)
            JOIN ledger_offer ON ledger_offer.app = redemption.app AND ledger_offer.product_id = redemption.product_id
                AND ledger_offer.offer_id = redemption.offer_id
            WHERE redemption.app = ? AND redemption.offer_id = ? AND redemption.product_id = ?
                AND redemption.authorisation IS NULL AND redemption.acknowledged_at IS NULL AND redemption.first_at >= since
            ORDER BY redemption.at, redemption.id LIMIT ?
            """, [app, offer.offerID.text.description, offer.productID.text.description, limit]
        ).map { try redemption($0, offer.app) }
    }

    static func acknowledge(_ number: Int64, at now: Timestamp, _ db: any Database) throws {
        try db.change(
            "UPDATE redemption SET acknowledged_at = ? WHERE id = ? AND acknowledged_at IS NULL",
            [now.milliseconds, number])
    }
}
