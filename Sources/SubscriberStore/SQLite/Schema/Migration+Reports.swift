extension Migration {
    /// The kept reports, which are not exported, and the exposures by offer.
    static let reports = Migration(
        name: "reports",
        sql: """
            CREATE TABLE report (
                app INTEGER NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                -- Empty if the rule has no sample.
                sample TEXT NOT NULL,
                -- The time up to which data counts; -1 for the time at which the report is made.
                as_of INTEGER NOT NULL,
                -- NULL unless a new report is wanted.
                requested_at INTEGER,
                -- Of the new report, the customers read so far.
                customers_read INTEGER NOT NULL,
                made_at INTEGER,
                failed_at INTEGER,
                result BLOB,
                PRIMARY KEY (app, product_id, offer_id, sample, as_of)
            ) STRICT;
            CREATE INDEX exposure_offer ON exposure (app, product_id, offer_id, sample, kind, value);
            """)
}
