import OfferCore

/// The offers for whose redemptions an authorisation is expected, and since when.
enum LedgerOfferTable {
    /// Removes offers that are no longer decided by a rule. Should they be again, that is a new beginning.
    static func removeAll(except offers: [(offer: LedgerOffer, app: Int64)], _ db: any Database) throws {
        struct Key: Hashable {
            let app: Int64
            let productID: String
            let offerID: String
        }
        let kept = Set(
            offers.map {
                Key(
                    app: $0.app, productID: $0.offer.productID.text.description,
                    offerID: $0.offer.offerID.text.description)
            })
        for row in try db.rows("SELECT app, product_id, offer_id FROM ledger_offer", []) {
            let key = Key(app: try row["app"], productID: try row["product_id"], offerID: try row["offer_id"])
            guard !kept.contains(key) else { continue }
            try db.change(
                "DELETE FROM ledger_offer WHERE app = ? AND product_id = ? AND offer_id = ?",
                [key.app, key.productID, key.offerID])
        }
    }

    static func add(_ offer: LedgerOffer, _ app: Int64, at now: Timestamp, _ db: any Database) throws {
        try db.change(
            "INSERT INTO ledger_offer (app, product_id, offer_id, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [app, offer.productID.text.description, offer.offerID.text.description, now.milliseconds])
    }
}
