extension Migration {
    /// The events that apps report about offers, and the time since which changes of renewals are recorded.
    static let offerEvents = Migration(
        name: "offer events",
        sql: """
            CREATE TABLE offer_event (
                app INTEGER NOT NULL REFERENCES app,
                -- The customer, as in authorisation_holder. After an erasure, the kind is 0 and the value is random.
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                at INTEGER NOT NULL,
                -- 1 shown, 2 dismissed, 3 purchased, 4 pending, 5 failed.
                event INTEGER NOT NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                error TEXT,
                -- The signature; empty if the app named none.
                nonce TEXT NOT NULL,
                PRIMARY KEY (app, kind, value, event, product_id, offer_id, at, nonce)
            ) STRICT, WITHOUT ROWID;

            ALTER TABLE app ADD COLUMN changes_since INTEGER;
            -- The recovery checkpoint of a version that records changes. An older version moves only recovered_until.
            ALTER TABLE app ADD COLUMN changes_until INTEGER;
            """)
}
