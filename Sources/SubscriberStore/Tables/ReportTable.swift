import OfferCore
import OfferEligibility
import OfferReports

/// The kept reports, and the requests for new ones.
enum ReportTable {
    static func all(_ db: any Database) throws -> [KeptReport] {
        try db.rows(
            """
            SELECT app.bundle_id, app.environment, product_id, offer_id, sample, as_of, requested_at, customers_read,
                made_at, failed_at
            FROM report JOIN app ON app.id = report.app
            """, []
        ).map { row in
            KeptReport(
                subject: try subject(row), requestedAt: try row.time("requested_at"),
                customersRead: Int(try row["customers_read"] as Int64), madeAt: try row.time("made_at"),
                failedAt: try row.time("failed_at"))
        }
    }

    private static func subject(_ row: Row) throws -> ReportSubject {
        let (sample, number): (String, Int64) = (try row["sample"], try row["as_of"])
        let (app, asOf) = (try AppTable.scope(row), number == newest ? nil : Timestamp(milliseconds: number))
        if try row["product_id"] == allProducts, let zone = ReportZone(rawValue: sample) {
            return ReportSubject(.subscriptions(app, zone), asOf: asOf)
        }
        let (name, cohorts) = divided(sample)
        return ReportSubject(
            ReportedOffer(
                app: app, productID: try row.productID, offerID: try row.offerID, sample: name.isEmpty ? nil : name),
            cohorts, asOf: asOf)
    }

    /// Returns the sample and the cohorts of a text of ``text(of:_:)``.
    private static func divided(_ text: String) -> (sample: String, ReportCohorts) {
        let parts = text.split(separator: "*", maxSplits: 3, omittingEmptySubsequences: false)
        guard text.hasPrefix(cohortsPrefix), parts.count == 4, let span = CohortSpan(rawValue: String(parts[1])),
            let zone = ReportZone(rawValue: String(parts[2]))
        else { return (text, ReportCohorts()) }
        return (String(parts[3]), ReportCohorts(span, zone))
    }

    /// The value of `sample`. Cohorts that are not the usual ones are before the name of the sample.
    private static func text(of sample: String?, _ cohorts: ReportCohorts) -> String {
        let name = sample ?? ""
        guard cohorts != ReportCohorts() else { return name }
        return "\(cohortsPrefix)\(cohorts.span.rawValue)*\(cohorts.zone.rawValue)*\(name)"
    }

    static func result(of subject: ReportSubject, _ db: any Database) throws -> [UInt8]? {
        guard let key = try key(of: subject, db) else { return nil }
        return try db.row("SELECT result FROM report WHERE \(isSubject)", key)?["result"]
    }

    /// - Returns: false if there is no room.
    static func request(_ subject: ReportSubject, at now: Timestamp, _ db: any Database) throws -> Bool {
        _ = try AppTable.makeID(of: subject.app, db)
        guard let key = try key(of: subject, db) else { return false }
        let changed = try db.change(
            "UPDATE report SET requested_at = ?6, customers_read = 0 WHERE \(isSubject) AND requested_at IS NULL",
            key + [now.milliseconds])
        if changed > 0 { return true }
        guard try db.row("SELECT 1 AS known FROM report WHERE \(isSubject)", key) == nil else { return true }
        if subject.asOf != nil {
            guard try hasRoom("app = ?1 AND as_of <> \(newest)", [key[0]], KeptReport.maximumEarlier, db) else {
                return false
            }
        }
        guard try hasRoom("TRUE", [], KeptReport.maximumCount, db) else { return false }
        try db.send(
            """
            INSERT INTO report (app, product_id, offer_id, sample, as_of, requested_at, customers_read)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)
            """, key + [now.milliseconds])
        return true
    }

    /// Deletes a report that was never made, or else the one that was made first, if there are too many of a kind.
    private static func hasRoom(
        _ isOfKind: String, _ values: [(any ColumnValue)?], _ maximum: Int, _ db: any Database
    ) throws -> Bool {
        let count = try db.number("SELECT count(*) FROM report WHERE \(isOfKind)", values) ?? 0
        guard count >= maximum else { return true }
        return try db.change(
            """
            DELETE FROM report WHERE (app, product_id, offer_id, sample, as_of) IN (
                SELECT app, product_id, offer_id, sample, as_of FROM report WHERE requested_at IS NULL AND \(isOfKind)
                ORDER BY made_at IS NOT NULL, made_at, app, product_id, offer_id, sample, as_of LIMIT 1)
            """, values) > 0
    }

    static func noteProgress(of subject: ReportSubject, customersRead: Int, _ db: any Database) throws {
        guard let key = try key(of: subject, db) else { return }
        try db.send("UPDATE report SET customers_read = ?6 WHERE \(isSubject)", key + [Int64(customersRead)])
    }

    static func settle(
        _ subject: ReportSubject, result: [UInt8]?, at now: Timestamp, _ db: any Database
    ) throws {
        guard let key = try key(of: subject, db) else { return }
        if let result {
            try db.send(
                """
                UPDATE report SET result = ?6, made_at = ?7, failed_at = NULL, requested_at = NULL WHERE \(isSubject)
                """, key + [result, now.milliseconds])
        } else {
            try db.send(
                "UPDATE report SET failed_at = ?6, requested_at = NULL WHERE \(isSubject)", key + [now.milliseconds])
        }
    }

    private static let isSubject = "app = ?1 AND product_id = ?2 AND offer_id = ?3 AND sample = ?4 AND as_of = ?5"
    /// The value of `as_of` for the time at which the report is made.
    private static let newest: Int64 = -1
    /// The product and the offer of a report about all subscriptions, which no product has. The sample is the time zone.
    private static let allProducts = "*"

    /// No sample begins like this: its beginning is that of campaigns, and no name of a campaign has an asterisk.
    private static let cohortsPrefix = "\(Campaign.samplePrefix)*"

    /// - Returns: nil if the app is unknown.
    private static func key(of subject: ReportSubject, _ db: any Database) throws -> [(any ColumnValue)?]? {
        guard let app = try AppTable.id(of: subject.app, db) else { return nil }
        let asOf = subject.asOf?.milliseconds ?? newest
        switch subject.topic {
        case .offer(let offer, let cohorts):
            return [
                app, offer.productID.text.description, offer.offerID.text.description, text(of: offer.sample, cohorts),
                asOf,
            ]
        case .subscriptions(_, let zone): return [app, allProducts, allProducts, zone.rawValue, asOf]
        }
    }
}
