extension Migration {
    /// The number of signatures, redemptions and exposures of each offer on each day, and of the links of each campaign.
    ///
    /// The console shows these numbers. Counting the rows takes seconds with millions of signatures.
    static let offerDays = Migration(
        name: "offer days",
        sql: """
            CREATE TABLE offer_day (
                -- The number of days since 1970, in UTC.
                day INTEGER NOT NULL,
                app INTEGER NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                -- 1 signatures that were not withdrawn, 2 redemptions, 3 customers with the offer, 4 customers held out
                kind INTEGER NOT NULL,
                shard INTEGER NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (day, app, offer_id, product_id, kind, shard)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO offer_day
            SELECT at / 86400000, app, product_id, offer_id, 1, 0, count(*) FROM authorisation WHERE state <> 3
            GROUP BY at / 86400000, app, offer_id, product_id
            UNION ALL
            SELECT at / 86400000, app, product_id, offer_id, 2, 0, count(*) FROM redemption
            GROUP BY at / 86400000, app, offer_id, product_id
            UNION ALL
            SELECT at / 86400000, app, product_id, offer_id, arm + 2, 0, count(*) FROM exposure
            GROUP BY at / 86400000, app, offer_id, product_id, arm;

            \(trigger("authorisation_added", "INSERT ON authorisation WHEN NEW.state <> 3", add("NEW", "1", 1)))
            \(trigger("authorisation_deleted", "DELETE ON authorisation WHEN OLD.state <> 3", add("OLD", "1", -1)))
            \(trigger(
                "authorisation_withdrawn", "UPDATE OF state ON authorisation WHEN OLD.state <> 3 AND NEW.state = 3",
                add("NEW", "1", -1)))
            \(trigger(
                "authorisation_restored", "UPDATE OF state ON authorisation WHEN OLD.state = 3 AND NEW.state <> 3",
                add("NEW", "1", 1)))
            \(trigger("redemption_added_to_day", "INSERT ON redemption", add("NEW", "2", 1)))
            \(trigger("redemption_deleted_from_day", "DELETE ON redemption", add("OLD", "2", -1)))
            \(trigger(
                "redemption_moved", "UPDATE OF at ON redemption WHEN OLD.at <> NEW.at",
                add("OLD", "2", -1) + add("NEW", "2", 1)))
            \(trigger("exposure_added", "INSERT ON exposure", add("NEW", "NEW.arm + 2", 1)))
            \(trigger("exposure_deleted", "DELETE ON exposure", add("OLD", "OLD.arm + 2", -1)))

            CREATE TABLE link_count (
                app INTEGER NOT NULL REFERENCES app,
                campaign TEXT NOT NULL,
                arm INTEGER NOT NULL,
                shard INTEGER NOT NULL,
                links INTEGER NOT NULL,
                claims INTEGER NOT NULL,
                PRIMARY KEY (app, campaign, arm, shard)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO link_count
            SELECT app, campaign, arm, 0, count(*), count(claimed_at) FROM mailed_link GROUP BY app, campaign, arm;
            \(trigger("mailed_link_added", "INSERT ON mailed_link", addLink("1", claims: "NEW.claimed_at IS NOT NULL")))
            \(trigger(
                "mailed_link_claimed",
                "UPDATE OF claimed_at ON mailed_link WHEN OLD.claimed_at IS NULL AND NEW.claimed_at IS NOT NULL",
                addLink("0", claims: "1")))
            """)

    private static func trigger(_ name: String, _ event: String, _ statements: String) -> String {
        "CREATE TRIGGER \(name) AFTER \(event) BEGIN \(statements) END;"
    }

    private static func addLink(_ links: String, claims: String) -> String {
        """
        INSERT INTO link_count (app, campaign, arm, shard, links, claims)
        VALUES (NEW.app, NEW.campaign, NEW.arm, 0, \(links), \(claims))
        ON CONFLICT (app, campaign, arm, shard)
        DO UPDATE SET links = links + excluded.links, claims = claims + excluded.claims;
        """
    }

    /// A statement that adds a number to the count of a row's day.
    private static func add(_ row: String, _ kind: String, _ change: Int) -> String {
        """
        INSERT INTO offer_day (day, app, product_id, offer_id, kind, shard, count)
        VALUES (\(row).at / 86400000, \(row).app, \(row).product_id, \(row).offer_id, \(kind), 0, \(change))
        ON CONFLICT (day, app, offer_id, product_id, kind, shard) DO UPDATE SET count = count + excluded.count;
        """
    }
}
