extension Migration {
    /// The exposures of customers to offers, and the source of each signature.
    static let exposures = Migration(
        name: "exposures",
        sql: """
            CREATE TABLE exposure (
                app INTEGER NOT NULL REFERENCES app,
                -- The customer, as in authorisation_holder. After an erasure, the kind is 0 and the value is random.
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                product_id TEXT NOT NULL,
                -- Empty for an introductory offer.
                offer_id TEXT NOT NULL,
                -- The name of the sample; empty if the rule has none.
                sample TEXT NOT NULL,
                -- Whether the customer is in the sample; NULL without one.
                is_in_sample INTEGER,
                arm INTEGER NOT NULL,
                rule TEXT,
                channel INTEGER NOT NULL,
                placement TEXT,
                rules_digest BLOB NOT NULL,
                at INTEGER NOT NULL,
                PRIMARY KEY (app, kind, value, product_id, offer_id, sample)
            ) STRICT, WITHOUT ROWID;

            -- NULL for signatures of an older version.
            ALTER TABLE authorisation ADD COLUMN rule TEXT;
            ALTER TABLE authorisation ADD COLUMN channel INTEGER;
            """)
}
