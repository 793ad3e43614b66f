extension Migration {
    /// The same changes as ``Migration/offerDays``, which explains the table.
    ///
    /// Each connection adds to rows of its own, named by its process ID, so no signature waits for another one and no two
    /// transactions can deadlock on them. The triggers also count what the previous release adds. The migration first
    /// waits for all running changes, because it needs the tables in another order than they do. It holds up others until
    /// the rows are counted.
    static let offerDaysInPostgreSQL = Migration(
        name: "offer days",
        sql: """
            DO $$ BEGIN PERFORM pg_advisory_xact_lock(\(PostgreSQLWriter.everything)); END $$;
            LOCK TABLE authorisation, redemption, exposure, mailed_link IN SHARE ROW EXCLUSIVE MODE;
            CREATE TABLE offer_day (
                day BIGINT NOT NULL,
                app BIGINT NOT NULL REFERENCES app,
                product_id TEXT COLLATE "C" NOT NULL,
                offer_id TEXT COLLATE "C" NOT NULL,
                kind BIGINT NOT NULL,
                shard BIGINT NOT NULL,
                count BIGINT NOT NULL,
                PRIMARY KEY (day, app, offer_id, product_id, kind, shard)
            ) WITH (fillfactor = 50);
            CREATE FUNCTION add_to_offer_day(
                app BIGINT, product_id TEXT, offer_id TEXT, kind BIGINT, at BIGINT, change BIGINT
            ) RETURNS void LANGUAGE plpgsql SET search_path = \(PostgreSQLSchema.name) AS $$
            BEGIN
                INSERT INTO offer_day AS counted (day, app, product_id, offer_id, kind, shard, count)
                VALUES ($5 / 86400000, $1, $2, $3, $4, pg_backend_pid(), $6)
                ON CONFLICT ON CONSTRAINT offer_day_pkey DO UPDATE SET count = counted.count + excluded.count;
            END
            $$;
            \(counting("authorisation", where: { "\($0).state <> 3" }, kind: { _ in "1" }))
            \(counting("redemption", kind: { _ in "2" }))
            \(counting("exposure", kind: { "\($0).arm + 2" }))
            CREATE TABLE link_count (
                app BIGINT NOT NULL REFERENCES app,
                campaign TEXT COLLATE "C" NOT NULL,
                arm BIGINT NOT NULL,
                shard BIGINT NOT NULL,
                links BIGINT NOT NULL,
                claims BIGINT NOT NULL,
                PRIMARY KEY (app, campaign, arm, shard)
            ) WITH (fillfactor = 50);
            CREATE FUNCTION count_link() RETURNS trigger LANGUAGE plpgsql SET search_path = \(PostgreSQLSchema.name) AS $$
            BEGIN
                INSERT INTO link_count AS counted (app, campaign, arm, shard, links, claims)
                VALUES (NEW.app, NEW.campaign, NEW.arm, pg_backend_pid(),
                    CASE TG_OP WHEN 'INSERT' THEN 1 ELSE 0 END, CASE WHEN NEW.claimed_at IS NULL THEN 0 ELSE 1 END)
                ON CONFLICT (app, campaign, arm, shard)
                DO UPDATE SET links = counted.links + excluded.links, claims = counted.claims + excluded.claims;
                RETURN NULL;
            END
            $$;
            CREATE TRIGGER mailed_link_counted AFTER INSERT ON mailed_link FOR EACH ROW EXECUTE FUNCTION count_link();
            CREATE TRIGGER mailed_link_claimed AFTER UPDATE OF claimed_at ON mailed_link
            FOR EACH ROW WHEN (OLD.claimed_at IS NULL AND NEW.claimed_at IS NOT NULL) EXECUTE FUNCTION count_link();
            INSERT INTO link_count
            SELECT app, campaign, arm, 0, count(*), count(claimed_at) FROM mailed_link GROUP BY app, campaign, arm;

            CREATE TRIGGER authorisation_withdrawn AFTER UPDATE OF state ON authorisation
            FOR EACH ROW WHEN ((OLD.state = 3) <> (NEW.state = 3)) EXECUTE FUNCTION count_authorisation_by_day();
            CREATE TRIGGER redemption_moved AFTER UPDATE OF at ON redemption
            FOR EACH ROW WHEN (OLD.at <> NEW.at) EXECUTE FUNCTION count_redemption_by_day();

            INSERT INTO offer_day
            SELECT at / 86400000, app, product_id, offer_id, 1, 0, count(*) FROM authorisation WHERE state <> 3
            GROUP BY at / 86400000, app, offer_id, product_id
            UNION ALL
            SELECT at / 86400000, app, product_id, offer_id, 2, 0, count(*) FROM redemption
            GROUP BY at / 86400000, app, offer_id, product_id
            UNION ALL
            SELECT at / 86400000, app, product_id, offer_id, arm + 2, 0, count(*) FROM exposure
            GROUP BY at / 86400000, app, offer_id, product_id, arm
            """)

    /// The function that counts the changed rows of a table by day, and the trigger that calls it for new and deleted
    /// rows.
    private static func counting(
        _ table: String, where holds: (_ row: String) -> String = { _ in "true" }, kind: (_ row: String) -> String
    ) -> String {
        func add(_ row: String, _ change: Int, unless operation: String) -> String {
            """
            IF TG_OP <> '\(operation)' AND \(holds(row)) THEN
                PERFORM add_to_offer_day(
                    \(row).app, \(row).product_id, \(row).offer_id, \(kind(row)), \(row).at, \(change));
            END IF;
            """
        }
        return """
            CREATE FUNCTION count_\(table)_by_day() RETURNS trigger LANGUAGE plpgsql
            SET search_path = \(PostgreSQLSchema.name) AS $$
            BEGIN
                \(add("OLD", -1, unless: "INSERT"))
                \(add("NEW", 1, unless: "DELETE"))
                RETURN NULL;
            END
            $$;
            CREATE TRIGGER \(table)_counted_by_day AFTER INSERT OR DELETE ON \(table)
            FOR EACH ROW EXECUTE FUNCTION count_\(table)_by_day();
            """
    }
}
