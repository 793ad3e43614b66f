extension Migration {
    /// The same changes as ``Migration/exposures``, which explains the columns.
    static let exposuresInPostgreSQL = Migration(
        name: "exposures",
        sql: """
            CREATE TABLE exposure (
                app BIGINT NOT NULL REFERENCES app,
                kind BIGINT NOT NULL,
                value BYTEA NOT NULL,
                product_id TEXT COLLATE "C" NOT NULL,
                offer_id TEXT COLLATE "C" NOT NULL,
                sample TEXT COLLATE "C" NOT NULL,
                is_in_sample BIGINT,
                arm BIGINT NOT NULL,
                rule TEXT,
                channel BIGINT NOT NULL,
                placement TEXT,
                rules_digest BYTEA NOT NULL,
                at BIGINT NOT NULL,
                PRIMARY KEY (app, kind, value, product_id, offer_id, sample)
            );
            ALTER TABLE authorisation ADD COLUMN rule TEXT, ADD COLUMN channel BIGINT
            """)
}
