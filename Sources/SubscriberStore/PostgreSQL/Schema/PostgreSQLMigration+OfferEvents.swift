extension Migration {
    /// The same changes as ``Migration/offerEvents``, which explains the columns.
    static let offerEventsInPostgreSQL = Migration(
        name: "offer events",
        sql: """
            CREATE TABLE offer_event (
                app BIGINT NOT NULL REFERENCES app,
                kind BIGINT NOT NULL,
                value BYTEA NOT NULL,
                at BIGINT NOT NULL,
                event BIGINT NOT NULL,
                product_id TEXT COLLATE "C" NOT NULL,
                offer_id TEXT COLLATE "C" NOT NULL,
                error TEXT,
                nonce TEXT NOT NULL,
                PRIMARY KEY (app, kind, value, event, product_id, offer_id, at, nonce)
            );
            ALTER TABLE app ADD COLUMN changes_since BIGINT, ADD COLUMN changes_until BIGINT
            """)
}
