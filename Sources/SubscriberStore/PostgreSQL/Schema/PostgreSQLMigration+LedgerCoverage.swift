extension Migration {
    /// The same changes as ``Migration/ledgerCoverage``, which explains the columns.
    static let postgreSQLLedgerCoverage = Migration(
        name: "ledger coverage",
        sql: """
            CREATE TABLE ledger_app (app BIGINT PRIMARY KEY REFERENCES app, since BIGINT NOT NULL);
            INSERT INTO ledger_app SELECT app, min(since) FROM ledger_offer GROUP BY app;

            CREATE TABLE ledger_exemption (
                app BIGINT NOT NULL REFERENCES app,
                product_id TEXT COLLATE "C" NOT NULL,
                offer_id TEXT COLLATE "C" NOT NULL,
                begins_at BIGINT NOT NULL,
                ends_at BIGINT,
                PRIMARY KEY (app, product_id, offer_id, begins_at)
            );
            INSERT INTO ledger_exemption SELECT app, product_id, offer_id, 0, since FROM ledger_offer;

            CREATE TABLE redeemed_offer (
                app BIGINT NOT NULL REFERENCES app,
                product_id TEXT COLLATE "C" NOT NULL,
                offer_id TEXT COLLATE "C" NOT NULL,
                PRIMARY KEY (app, product_id, offer_id)
            );
            INSERT INTO redeemed_offer SELECT DISTINCT app, product_id, offer_id FROM redemption;

            ALTER TABLE redemption ADD COLUMN erased BYTEA;
            ALTER TABLE redemption ADD COLUMN continues_until BIGINT;
            CREATE INDEX redemption_erased ON redemption (erased) WHERE erased IS NOT NULL;
            CREATE TABLE erasure_key (id BIGINT PRIMARY KEY CHECK (id = 1), key BYTEA NOT NULL);
            -- Two random UUIDs have 244 random bits.
            INSERT INTO erasure_key
            VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'))
            """)
}
