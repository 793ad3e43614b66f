extension Migration {
    /// The announcements of renewal infos, and the number of redemptions of each offer.
    static let redemptions = Migration(
        name: "redemptions",
        sql: """
            -- Like fact. The first and the last renewal info of a period that showed an offer, or none.
            CREATE TABLE announcement (
                subscription INTEGER NOT NULL REFERENCES subscription ON DELETE CASCADE,
                kind INTEGER NOT NULL,
                -- The period and the offer.
                transaction_id TEXT NOT NULL,
                signed_date INTEGER NOT NULL,
                digest BLOB NOT NULL,
                value BLOB NOT NULL,
                PRIMARY KEY (subscription, kind, transaction_id)
            ) STRICT, WITHOUT ROWID;

            -- Whether facts that stay show the redemption. Others were announced to a version that did not keep announcements.
            ALTER TABLE redemption ADD COLUMN is_lasting INTEGER NOT NULL DEFAULT 0;

            -- Counts the rows of redemption, whoever adds or deletes them.
            CREATE TABLE redemption_count (
                app INTEGER NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                shard INTEGER NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (app, offer_id, product_id, shard)
            ) STRICT, WITHOUT ROWID;
            CREATE TRIGGER redemption_added AFTER INSERT ON redemption BEGIN
                INSERT INTO redemption_count (app, product_id, offer_id, shard, count)
                VALUES (NEW.app, NEW.product_id, NEW.offer_id, 0, 1)
                ON CONFLICT (app, offer_id, product_id, shard) DO UPDATE SET count = count + 1;
            END;
            CREATE TRIGGER redemption_deleted AFTER DELETE ON redemption BEGIN
                UPDATE redemption_count SET count = count - 1
                WHERE app = OLD.app AND offer_id = OLD.offer_id AND product_id = OLD.product_id AND shard = 0;
            END;
            INSERT INTO redemption_count
            SELECT app, product_id, offer_id, 0, count(*) FROM redemption GROUP BY app, offer_id, product_id;

            -- When a signature becomes worthless; NULL for one of an older version, which holds its slot until then.
            ALTER TABLE authorisation ADD COLUMN valid_until INTEGER;
            """)
}
