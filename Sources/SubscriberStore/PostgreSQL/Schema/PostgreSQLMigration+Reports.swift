extension Migration {
    /// The same change as ``Migration/reports``, which explains the columns.
    static let reportsInPostgreSQL = Migration(
        name: "reports",
        sql: """
            CREATE TABLE report (
                app BIGINT NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                sample TEXT NOT NULL,
                as_of BIGINT NOT NULL,
                requested_at BIGINT,
                customers_read BIGINT NOT NULL,
                made_at BIGINT,
                failed_at BIGINT,
                result BYTEA,
                PRIMARY KEY (app, product_id, offer_id, sample, as_of)
            );
            CREATE INDEX exposure_offer ON exposure (app, product_id, offer_id, sample, kind, value)
            """)
}
