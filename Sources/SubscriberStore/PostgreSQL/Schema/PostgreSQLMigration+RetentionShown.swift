extension Migration {
    /// The same changes as ``Migration/retentionShown``, which explains the columns.
    static let retentionShownInPostgreSQL = Migration(
        name: "retention shown",
        sql: """
            CREATE TABLE retention_shown (
                app BIGINT NOT NULL REFERENCES app,
                request_id TEXT COLLATE "C" NOT NULL,
                kind BIGINT NOT NULL,
                value BYTEA NOT NULL,
                answer TEXT NOT NULL,
                reason TEXT NOT NULL,
                message_id TEXT,
                product_id TEXT,
                offer_id TEXT,
                rule TEXT,
                at BIGINT NOT NULL,
                PRIMARY KEY (app, request_id)
            );
            CREATE INDEX retention_shown_customer ON retention_shown (app, kind, value)
            """)
}
