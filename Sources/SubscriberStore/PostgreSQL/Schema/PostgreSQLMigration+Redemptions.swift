extension Migration {
    /// The same changes as ``Migration/redemptions``, which explains the tables.
    ///
    /// Several connections count at the same time, so each adds to one of several rows. The trigger also counts rows
    /// that the previous release adds. Creating the trigger waits for running changes and blocks others until the rows
    /// are counted.
    static let redemptionsInPostgreSQL = Migration(
        name: "redemptions",
        sql: """
            CREATE TABLE announcement (
                subscription BIGINT NOT NULL REFERENCES subscription ON DELETE CASCADE,
                kind BIGINT NOT NULL,
                transaction_id TEXT COLLATE "C" NOT NULL,
                signed_date BIGINT NOT NULL,
                digest BYTEA NOT NULL,
                value BYTEA NOT NULL,
                PRIMARY KEY (subscription, kind, transaction_id)
            );

            CREATE TABLE redemption_count (
                app BIGINT NOT NULL REFERENCES app,
                product_id TEXT COLLATE "C" NOT NULL,
                offer_id TEXT COLLATE "C" NOT NULL,
                shard BIGINT NOT NULL,
                count BIGINT NOT NULL,
                PRIMARY KEY (app, offer_id, product_id, shard)
            ) WITH (fillfactor = 50);
            CREATE FUNCTION count_redemption() RETURNS trigger LANGUAGE plpgsql SET search_path = \(PostgreSQLSchema.name) AS $$
            DECLARE
                changed redemption%ROWTYPE;
            BEGIN
                IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
                INSERT INTO redemption_count AS counted (app, product_id, offer_id, shard, count)
                VALUES (changed.app, changed.product_id, changed.offer_id, pg_backend_pid() % 16,
                    CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END)
                ON CONFLICT (app, offer_id, product_id, shard) DO UPDATE SET count = counted.count + excluded.count;
                RETURN NULL;
            END
            $$;
            ALTER TABLE redemption ADD COLUMN is_lasting BIGINT NOT NULL DEFAULT 0;
            CREATE TRIGGER redemption_counted AFTER INSERT OR DELETE ON redemption
            FOR EACH ROW EXECUTE FUNCTION count_redemption();
            INSERT INTO redemption_count
            SELECT app, product_id, offer_id, 0, count(*) FROM redemption GROUP BY app, offer_id, product_id;

            ALTER TABLE authorisation ADD COLUMN valid_until BIGINT
            """)
}
