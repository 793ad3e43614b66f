import OfferCore
import OfferEligibility

/// The personal links of campaigns.
enum MailedLinkTable {
    static func link(_ row: Row) throws -> MailedLink {
        MailedLink(
            id: try row["id"], campaign: try row["campaign"],
            subject: try StoredIdentifier(kind: try row["kind"], value: try row["value"]).recordedCustomer(),
            arm: try ExposureTable.arm(row),
            offer: Campaign.Offer(productID: try row.productID, offerID: try row.offerID),
            madeAt: try row.requiredTime("made_at"), expiresAt: try row.requiredTime("expires_at"),
            claimedAt: try row.time("claimed_at"))
    }

    static func link(_ id: [UInt8], _ app: Int64, _ db: any Database) throws -> MailedLink? {
        try db.row("SELECT * FROM mailed_link WHERE app = ? AND id = ?", [app, id]).map(link)
    }

    static func link(
        to customer: CustomerIdentifier, _ campaign: String, _ app: Int64, _ db: any Database
    ) throws -> MailedLink? {
        let stored = StoredIdentifier(customer)
        return try db.row(
            "SELECT * FROM mailed_link WHERE app = ? AND kind = ? AND value = ? AND campaign = ? ORDER BY id",
            [app, stored.kind, stored.value, campaign]
        ).map(link)
    }

    /// Adds a link. A known link gets only a claim that it lacks.
    static func add(_ link: MailedLink, _ app: Int64, _ db: any Database) throws {
        let subject = StoredIdentifier(link.subject)
        try db.send(
            """
            INSERT INTO mailed_link
                (app, id, campaign, kind, value, arm, product_id, offer_id, made_at, expires_at, claimed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (app, id) DO UPDATE SET claimed_at = coalesce(mailed_link.claimed_at, excluded.claimed_at)
            """,
            [
                app, link.id, link.campaign, subject.kind, subject.value, ExposureTable.number(of: link.arm),
                link.offer.productID.text.description, link.offer.offerID.text.description, link.madeAt.milliseconds,
                link.expiresAt.milliseconds, link.claimedAt?.milliseconds,
            ])
    }

    static func claim(_ id: [UInt8], at now: Timestamp, _ app: Int64, _ db: any Database) throws {
        try db.send(
            "UPDATE mailed_link SET claimed_at = ? WHERE app = ? AND id = ? AND claimed_at IS NULL",
            [now.milliseconds, app, id])
    }

    /// Adds the numbers of links by campaign. Triggers count them, because a mailing can have a million links.
    static func count(_ counts: inout [String: LinkCounts], _ app: Int64, _ db: any Database) throws {
        let rows = try db.rows(
            """
            SELECT campaign, arm, CAST(sum(links) AS BIGINT) AS links, CAST(sum(claims) AS BIGINT) AS claims
            FROM link_count WHERE app = ? GROUP BY campaign, arm
            """, [app])
        for row in rows {
            let (campaign, links): (String, Int64) = (try row["campaign"], try row["links"])
            switch try ExposureTable.arm(row) {
            case .offered:
                counts[campaign, default: LinkCounts()].made = links
                counts[campaign, default: LinkCounts()].claimed = try row["claims"]
            case .heldOut: counts[campaign, default: LinkCounts()].heldOut = links
            }
        }
    }

    /// The query for campaigns whose counters differ from the number of their links. No statement of the service causes
    /// a difference.
    static let miscounted = """
        SELECT campaign, counted, found FROM (
            SELECT app, campaign, arm, CAST(sum(links) AS BIGINT) AS counted, CAST(sum(found) AS BIGINT) AS found,
                CAST(sum(claims) AS BIGINT) AS claims, CAST(sum(claimed) AS BIGINT) AS claimed
            FROM (
                SELECT app, campaign, arm, links, claims, 0 AS found, 0 AS claimed FROM link_count
                UNION ALL
                SELECT app, campaign, arm, 0, 0, 1, CASE WHEN claimed_at IS NULL THEN 0 ELSE 1 END FROM mailed_link
            ) AS entries GROUP BY app, campaign, arm) AS sums
        WHERE counted != found OR claims != claimed ORDER BY campaign LIMIT 100
        """

    /// Describes a campaign found by ``miscounted``.
    static func miscount(of campaign: String, counted: Int64, found: Int64) -> String {
        "the campaign \(campaign) has \(found) links, but its counters say \(counted), or another number of claims"
    }

    /// Removes a customer's identifier from the links. They no longer give an offer, but they still count.
    static func erase(_ customer: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let (stored, erased) = (StoredIdentifier(customer), StoredIdentifier.erased())
        try db.send(
            "UPDATE mailed_link SET kind = ?, value = ? WHERE app = ? AND kind = ? AND value = ?",
            [erased.kind, erased.value, app, stored.kind, stored.value])
    }
}

/// The visits to the pages of links, by campaign and day.
enum LinkVisitTable {
    static func visits(_ row: Row) throws -> LinkVisits {
        LinkVisits(
            campaign: try row["campaign"], day: try row["day"], isPersonal: try (row["is_personal"] as Int64) != 0,
            count: try row["visits"])
    }

    static func add(_ visits: LinkVisits, _ app: Int64, _ db: any Database) throws {
        try insert(visits, ifKnown: "visits = link_visit.visits + excluded.visits", app, db)
    }

    /// Raises the number of visits to that of an export, which may be imported twice.
    static func raise(to visits: LinkVisits, _ app: Int64, _ db: any Database) throws {
        try insert(
            visits,
            ifKnown: """
                visits = CASE WHEN excluded.visits > link_visit.visits THEN excluded.visits ELSE link_visit.visits END
                """, app, db)
    }

    private static func insert(
        _ visits: LinkVisits, ifKnown change: String, _ app: Int64, _ db: any Database
    ) throws {
        try db.send(
            """
            INSERT INTO link_visit (app, campaign, day, is_personal, visits) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (app, campaign, day, is_personal) DO UPDATE SET \(change)
            """, [app, visits.campaign, visits.day, visits.isPersonal ? 1 : 0, visits.count])
    }

    /// Adds the numbers of visits by campaign.
    static func count(_ counts: inout [String: LinkCounts], _ app: Int64, _ db: any Database) throws {
        for row in try db.rows("SELECT * FROM link_visit WHERE app = ?", [app]) {
            let visits = try visits(row)
            if visits.isPersonal {
                counts[visits.campaign, default: LinkCounts()].personalVisits += visits.count
            } else {
                counts[visits.campaign, default: LinkCounts()].campaignVisits += visits.count
            }
        }
    }
}
