import OfferCore
import OfferEligibility

/// The counts of signatures, redemptions and exposures by offer. Triggers maintain them, in the same transactions.
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
        let days = Query(
            """
            SELECT app, product_id, offer_id, kind, day, CAST(sum(count) AS BIGINT) AS count FROM offer_day
            WHERE day >= ? GROUP BY app, product_id, offer_id, kind, day
            """, [time.milliseconds / Self.millisecondsInDay])
        let totals = Query(
            """
            SELECT app, product_id, offer_id, CAST(sum(count) AS BIGINT) AS count FROM redemption_count
            GROUP BY app, product_id, offer_id
            """, [])
        let rows = try db.rows([days, totals])
        for row in rows[0] {
            let (kind, day, count): (Int64, Int64, Int64) = (try row["kind"], try row["day"], try row["count"])
            try add(row) { activity in
                switch kind {
                case 1: activity.signedByDay[day] = count
                case 2: activity.redeemedByDay[day] = count
                case 3: activity.offered += count
                default: activity.heldOut += count
                }
            }
        }
        for row in rows[1] { try add(row) { $0.redeemed = try row["count"] } }
        return Array(found.values)
    }

    /// The query for days whose counters differ from the number of their rows. No statement of the service causes a
    /// difference.
    static let miscounted = """
        SELECT product_id, offer_id, kind, counted, found FROM (
            SELECT day, app, product_id, offer_id, kind, CAST(sum(counted) AS BIGINT) AS counted,
                CAST(sum(found) AS BIGINT) AS found
            FROM (
                SELECT day, app, product_id, offer_id, kind, count AS counted, 0 AS found FROM offer_day
                UNION ALL SELECT at / 86400000, app, product_id, offer_id, 1, 0, 1 FROM authorisation WHERE state <> 3
                UNION ALL SELECT at / 86400000, app, product_id, offer_id, 2, 0, 1 FROM redemption
                UNION ALL SELECT at / 86400000, app, product_id, offer_id, arm + 2, 0, 1 FROM exposure) AS entries
            GROUP BY day, app, product_id, offer_id, kind) AS sums
        WHERE counted != found ORDER BY product_id, offer_id, kind, day LIMIT 100
        """

    /// Describes a day found by ``miscounted``.
    static func miscount(of offer: String, _ product: String, kind: Int64, counted: Int64, found: Int64) -> String {
        let names = [Int64(1): "signatures", 2: "redemptions", 3: "exposures", 4: "exposures of customers held out"]
        return "the offer \(offer) of \(product) has \(found) \(names[kind] ?? "rows") on a day, "
            + "but the counter of the day says \(counted)"
    }
}
