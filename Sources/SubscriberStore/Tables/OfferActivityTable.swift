import OfferCore
import OfferEligibility

/// The counts of signatures, redemptions and exposures by offer.
enum OfferActivityTable {
    private struct Key: Hashable {
        let app: Int64
        let productID: String
        let offerID: String
    }

    private static let millisecondsInDay: Int64 = 86_400_000

    static func activity(since time: Timestamp, _ db: any Database) throws -> [OfferActivity] {
        let apps = try AppTable.all(db)
        var found: [Key: OfferActivity] = [:]
        func add(_ row: Row, _ count: (inout OfferActivity) throws -> Void) throws {
            let key = Key(app: try row["app"], productID: try row["product_id"], offerID: try row["offer_id"])
            guard !key.offerID.isEmpty, let app = apps[key.app] else { return }
            var activity = try found[key] ?? OfferActivity(app: app, productID: row.productID, offerID: key.offerID)
            try count(&activity)
            found[key] = activity
        }
        let lists: [(any ColumnValue)?] = [Self.millisecondsInDay, time.milliseconds]
        let signed = Query(
            """
            SELECT app, product_id, offer_id, at / ?1 AS day, count(*) AS count FROM authorisation
            WHERE at >= ?2 AND state <> 3 GROUP BY app, product_id, offer_id, at / ?1
            """, lists)
        let redeemed = Query(
            """
            SELECT app, product_id, offer_id, at / ?1 AS day, count(*) AS count FROM redemption
            WHERE at >= ?2 GROUP BY app, product_id, offer_id, at / ?1
            """, lists)
        let totals = Query(
            """
            SELECT app, product_id, offer_id, CAST(sum(count) AS BIGINT) AS count FROM redemption_count
            GROUP BY app, product_id, offer_id
            """, [])
        let exposures = Query(
            """
            SELECT app, product_id, offer_id, arm, count(*) AS count FROM exposure WHERE at >= ?
            GROUP BY app, product_id, offer_id, arm
            """, [time.milliseconds])
        let rows = try db.rows([signed, redeemed, totals, exposures])
        for row in rows[0] { try add(row) { $0.signedByDay[try row["day"]] = try row["count"] } }
        for row in rows[1] { try add(row) { $0.redeemedByDay[try row["day"]] = try row["count"] } }
        for row in rows[2] { try add(row) { $0.redeemed = try row["count"] } }
        for row in rows[3] {
            let isOffered = try row["arm"] as Int64 == 1
            try add(row) { activity in
                if isOffered { activity.offered = try row["count"] } else { activity.heldOut = try row["count"] }
            }
        }
        return Array(found.values)
    }
}
