extension Migration {
    /// The ledger's data about unlisted offers, exempt offers and erased customers.
    static let ledgerCoverage = Migration(
        name: "ledger coverage",
        sql: """
            -- Redemptions of an app since then need an authorisation, also those of offers that the catalogue does not list.
            CREATE TABLE ledger_app (
                app INTEGER PRIMARY KEY REFERENCES app,
                since INTEGER NOT NULL
            ) STRICT;
            INSERT INTO ledger_app SELECT app, min(since) FROM ledger_offer GROUP BY app;

            -- When an offer was signed without the ledger: without a rule, or by another server. NULL for until now.
            CREATE TABLE ledger_exemption (
                app INTEGER NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                begins_at INTEGER NOT NULL,
                ends_at INTEGER,
                PRIMARY KEY (app, product_id, offer_id, begins_at)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO ledger_exemption SELECT app, product_id, offer_id, 0, since FROM ledger_offer;

            -- Each offer that was ever redeemed. There are few of them.
            CREATE TABLE redeemed_offer (
                app INTEGER NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                PRIMARY KEY (app, product_id, offer_id)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO redeemed_offer SELECT DISTINCT app, product_id, offer_id FROM redemption;

            -- The subscription of an erased customer as an HMAC, and until when a period can belong to the redemption.
            ALTER TABLE redemption ADD COLUMN erased BLOB;
            ALTER TABLE redemption ADD COLUMN continues_until INTEGER;
            CREATE INDEX redemption_erased ON redemption (erased) WHERE erased IS NOT NULL;
            CREATE TABLE erasure_key (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                key BLOB NOT NULL
            ) STRICT;
            INSERT INTO erasure_key VALUES (1, randomblob(32));
            """)
}
