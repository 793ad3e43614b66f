import OfferCore
import OfferEligibility

/// The redemptions that need an authorisation. Later configurations do not remove a requirement.
enum LedgerCoverageTable {
    /// An offer with the identifiers that the App Store uses.
    struct Offer: Hashable {
        let productID: String
        let offerID: String

        fileprivate init(_ offer: LedgerOffer) {
            (productID, offerID) = (offer.productID.text.description, offer.offerID.text.description)
        }

        fileprivate init(_ row: Row) throws { (productID, offerID) = (try row["product_id"], try row["offer_id"]) }
    }

    /// The time for which the ledger accepts signatures made before it covered their offer.
    private static let signatureLifetime = Duration.milliseconds(Timestamp.signatureLifetimeMilliseconds)

    static func begin(_ coverage: LedgerCoverage, at now: Timestamp, _ db: any Database) throws {
        for app in coverage.apps {
            try db.send(
                "INSERT INTO ledger_app (app, since) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [AppTable.makeID(of: app, db), now.milliseconds])
        }
        let exempt = try byApp(coverage.exempt, db)
        for (id, app) in try AppTable.all(db) {
            let open = Set(
                try db.rows(
                    "SELECT product_id, offer_id FROM ledger_exemption WHERE app = ? AND ends_at IS NULL", [id]
                ).map(Offer.init))
            let wanted = exempt[app] ?? []
            for offer in open.subtracting(wanted) { try end(offer, id, at: now + signatureLifetime, db) }
            for offer in wanted.subtracting(open) { try begin(offer, id, at: now, db) }
        }
        for (app, shares) in coverage.samples {
            let id = try AppTable.makeID(of: app, db)
            for (sample, share) in shares {
                try SampleSizeTable.add(SampleSize(app: app, sample: sample, share: share, since: now), id, db)
            }
        }
        for offer in coverage.decided {
            let names = Offer(offer)
            try db.send(
                "INSERT INTO ledger_offer (app, product_id, offer_id, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [AppTable.makeID(of: offer.app, db), names.productID, names.offerID, now.milliseconds])
        }
    }

    private static func byApp(_ offers: Set<LedgerOffer>, _ db: any Database) throws -> [AppScope: Set<Offer>] {
        for app in Set(offers.map(\.app)) { _ = try AppTable.makeID(of: app, db) }
        return Dictionary(grouping: offers, by: \.app).mapValues { Set($0.map(Offer.init)) }
    }

    /// Begins the exemption of an offer. It covers all past redemptions if no rule ever decided the offer.
    private static func begin(_ offer: Offer, _ app: Int64, at now: Timestamp, _ db: any Database) throws {
        let known = try db.row(
            """
            SELECT 1 FROM ledger_offer WHERE app = ?1 AND product_id = ?2 AND offer_id = ?3
            UNION ALL SELECT 1 FROM ledger_exemption WHERE app = ?1 AND product_id = ?2 AND offer_id = ?3
            """, [app, offer.productID, offer.offerID])
        try db.send(
            """
            INSERT INTO ledger_exemption (app, product_id, offer_id, begins_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (app, product_id, offer_id, begins_at) DO UPDATE SET ends_at = NULL
            """, [app, offer.productID, offer.offerID, known == nil ? 0 : now.milliseconds])
    }

    private static func end(_ offer: Offer, _ app: Int64, at time: Timestamp, _ db: any Database) throws {
        try db.send(
            """
            UPDATE ledger_exemption SET ends_at = ?
            WHERE app = ? AND product_id = ? AND offer_id = ? AND ends_at IS NULL
            """, [time.milliseconds, app, offer.productID, offer.offerID])
    }

    /// Returns true if an offer is currently not exempt.
    static func covers(_ redemption: LedgerRedemption, _ app: Int64, _ db: any Database) throws -> Bool {
        try db.row(
            "SELECT 1 FROM ledger_exemption WHERE app = ? AND product_id = ? AND offer_id = ? AND ends_at IS NULL",
            [app, redemption.productID.text.description, redemption.offerID]) == nil
    }

    /// Returns the redeemed offers that are currently not exempt.
    static func coveredOffers(of app: Int64, _ db: any Database) throws -> [Offer] {
        try db.rows(
            """
            SELECT product_id, offer_id FROM redeemed_offer AS offer
            WHERE app = ? AND NOT EXISTS (
                SELECT 1 FROM ledger_exemption AS exempt
                WHERE exempt.app = offer.app AND exempt.product_id = offer.product_id
                    AND exempt.offer_id = offer.offer_id AND exempt.ends_at IS NULL)
            ORDER BY product_id, offer_id
            """, [app]
        ).map(Offer.init)
    }
}
