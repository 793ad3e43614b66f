import OfferCore

/// The redemptions of promotional offers that the App Store has shown, each counted once.
enum RedemptionTable {
    private struct Offer: Hashable {
        let productID: ProductID
        let offerID: String

        /// Whether a redemption was announced for the next period, and another offer has taken its place since. It counts all the
        /// same. Otherwise it has turned out to be part of one that is known.
        func isReplaced(_ time: Timestamp, in facts: [SubscriberFact]) -> Bool {
            !facts.contains { fact in
                switch fact.value {
                case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
                    isUsed(purchase.offer, purchase.productID) && purchase.purchaseDate >= time
                case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal):
                    isUsed(renewal.offer, renewal.autoRenewProductID ?? renewal.productID)
                case .status, .refundRequest, .expiryReason, .wholeHistory: false
                }
            }
        }

        private func isUsed(_ offer: AppliedOffer?, _ productID: ProductID) -> Bool {
            offer?.type == .promotional && offer?.identifier == offerID && productID == self.productID
        }
    }

    /// The tolerance between Apple's clock and ours.
    private static let clockTolerance = Duration.seconds(300)

    /// Works out anew what a subscription has redeemed, and closes the authorisations that explain what is new.
    ///
    /// An offer shows in the renewal info first and in a transaction later. It keeps its row, so it counts once.
    /// - Parameters:
    ///   - facts: all facts about the subscription.
    ///   - forgotten: what becomes of a redemption that no fact shows any more; nil if no facts were removed.
    static func update(
        _ facts: [SubscriberFact], of subscription: Int64, forgotten: Forgotten? = nil, _ db: any Database
    ) throws {
        let byOffer = Dictionary(grouping: Redemption.promotional(in: facts)) {
            Offer(productID: $0.productID, offerID: $0.offerID)
        }
        for (offer, redemptions) in byOffer {
            for row in try update(redemptions, of: offer, by: subscription, db) {
                if let forgotten {
                    try forget(row.id, forgotten, db)
                } else if !offer.isReplaced(row.at, in: facts) {
                    try forget(row.id, .neverWas, db)
                }
            }
        }
    }

    /// What becomes of a redemption that no fact shows any more.
    enum Forgotten {
        /// It never was one.
        case neverWas
        /// It counts on, for nobody. With it, later data of the same subscription is recognised.
        case erased(ErasedSubscription)
    }

    /// Finds the row of each redemption: first by its time, then, for one that has moved from the renewal info to its period, in the
    /// order of time. An older redemption that becomes known late has no row, and moves none of the others.
    /// - Returns: the rows that no redemption is left for.
    private static func update(
        _ redemptions: [Redemption], of offer: Offer, by subscription: Int64, _ db: any Database
    ) throws -> [(id: Int64, at: Timestamp)] {
        try adopt(redemptions, of: offer, by: subscription, db)
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
                try db.send("UPDATE redemption SET at = ? WHERE id = ?", [redemption.at.milliseconds, row.id])
            } else {
                try add(redemption, offer, ordinal, of: subscription, db)
                ordinal += 1
            }
        }
        return rows.map { (id: $0.id, at: $0.at) }
    }

    private static func forget(_ id: Int64, _ forgotten: Forgotten, _ db: any Database) throws {
        switch forgotten {
        case .neverWas: try db.send("DELETE FROM redemption WHERE id = ?", [id])
        case .erased(let subscription):
            try db.send(
                "UPDATE redemption SET subscription = NULL, erased = ?, continues_until = ? WHERE id = ?",
                [subscription.digest, subscription.continuesUntil?.milliseconds, id])
        }
    }

    /// Gives an erased redemption back to its subscription, once new data shows it again or shows its next period. Otherwise the
    /// rest of an offer of several months would be a redemption that no signature explains.
    private static func adopt(
        _ redemptions: [Redemption], of offer: Offer, by subscription: Int64, _ db: any Database
    ) throws {
        guard let first = redemptions.first, let app = try app(of: subscription, db) else { return }
        let digest = try ErasureKey(db).digest(of: .originalTransactionID(first.originalTransactionID), app)
        let erased = try db.rows(
            """
            SELECT id, at, continues_until FROM redemption
            WHERE erased = ? AND +app = ? AND offer_id = ? AND product_id = ? ORDER BY at, id
            """, [digest, app, offer.offerID, offer.productID.text.description])
        guard !erased.isEmpty else { return }
        let known = try db.rows(
            "SELECT at, ordinal FROM redemption WHERE subscription = ? AND offer_id = ? AND product_id = ?",
            [subscription, offer.offerID, offer.productID.text.description])
        var ordinal = (try known.map { try $0["ordinal"] as Int64 }.max() ?? -1) + 1
        let times = try Set(known.map { try $0.requiredTime("at") })
        var shown = redemptions.map(\.at).filter { !times.contains($0) }
        for row in erased {
            let (at, end) = (try row.requiredTime("at"), try row.time("continues_until"))
            let place = shown.firstIndex { time in time == at || end.map { time > at && time <= $0 } ?? false }
            guard let place else { continue }
            shown.remove(at: place)
            try db.send(
                "UPDATE redemption SET subscription = ?, ordinal = ?, erased = NULL, continues_until = NULL WHERE id = ?",
                [subscription, ordinal, try row["id"] as Int64])
            ordinal += 1
        }
    }

    private static func app(of subscription: Int64, _ db: any Database) throws -> Int64? {
        try db.number("SELECT app FROM subscription WHERE id = ?", [subscription])
    }

    /// Removes the redemptions of a subscription that no fact shows any more.
    static func removeAll(of subscription: Int64, forgotten: Forgotten, _ db: any Database) throws {
        for row in try db.rows("SELECT id FROM redemption WHERE subscription = ?", [subscription]) {
            try forget(try row["id"], forgotten, db)
        }
    }

    private static func add(
        _ redemption: Redemption, _ offer: Offer, _ ordinal: Int64, of subscription: Int64, _ db: any Database
    ) throws {
        let (productID, at) = (offer.productID.text.description, redemption.at.milliseconds)
        guard let app = try app(of: subscription, db) else { return }
        let explanation = try explanation(of: redemption, by: subscription, app, db)
        try db.send(
            """
            INSERT INTO redemption (app, subscription, product_id, offer_id, ordinal, at, first_at, authorisation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, [app, subscription, productID, offer.offerID, ordinal, at, at, explanation])
        if let explanation { try AuthorisationTable.setState(.redeemed, explanation, db) }
        try db.send(
            "INSERT INTO redeemed_offer (app, product_id, offer_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [app, productID, offer.offerID])
    }

    /// The oldest authorisation that can have led to a redemption, expired ones included.
    private static func explanation(
        of redemption: Redemption, by subscription: Int64, _ app: Int64, _ db: any Database
    ) throws -> Int64? {
        let holders =
            try [CustomerIdentifier.originalTransactionID(redemption.originalTransactionID)]
            + IdentifierTable.identifiers(of: subscription, db)
        let candidates = try AuthorisationTable.held(by: holders, app, includingErased: true, db).filter { found in
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
        let questions =
            subscriptions.map { Question("\(columns) WHERE redemption.subscription = ?", [$0]) }
            + authorisations.map { Question("\(columns) WHERE redemption.authorisation = ?", [$0]) }
        for row in try db.rows(questions).joined() { found[try row["id"]] = try redemption(row, app) }
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

    /// The oldest redemptions of an offer that need an authorisation and have none.
    static func unexplained(
        _ offer: LedgerCoverageTable.Offer, _ scope: AppScope, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [LedgerRedemption] {
        try db.rows(
            """
            \(columns) JOIN ledger_app ON ledger_app.app = redemption.app
            WHERE redemption.app = ? AND redemption.offer_id = ? AND redemption.product_id = ?
                AND redemption.authorisation IS NULL AND redemption.acknowledged_at IS NULL AND redemption.first_at >= since
                AND NOT EXISTS (
                    SELECT 1 FROM ledger_exemption AS exempt
                    WHERE exempt.app = redemption.app AND exempt.product_id = redemption.product_id
                        AND exempt.offer_id = redemption.offer_id
                        AND redemption.first_at >= exempt.begins_at AND redemption.first_at < exempt.ends_at)
            ORDER BY redemption.at, redemption.id LIMIT ?
            """, [app, offer.offerID, offer.productID, limit]
        ).map { try redemption($0, scope) }
    }

    static func acknowledge(_ number: Int64, at now: Timestamp, _ db: any Database) throws {
        try db.send(
            "UPDATE redemption SET acknowledged_at = ? WHERE id = ? AND acknowledged_at IS NULL",
            [now.milliseconds, number])
    }
}
