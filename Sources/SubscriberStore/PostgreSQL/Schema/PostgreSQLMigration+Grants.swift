extension Migration {
    /// The same change as ``Migration/grants``, which explains the columns.
    static let grantsInPostgreSQL = Migration(
        name: "grants",
        sql: """
            CREATE TABLE offer_grant (
                id BYTEA PRIMARY KEY,
                app BIGINT NOT NULL REFERENCES app,
                kind BIGINT NOT NULL,
                value BYTEA NOT NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                reason TEXT NOT NULL,
                note TEXT,
                ticket TEXT,
                lifts_limits BIGINT NOT NULL,
                made_by TEXT NOT NULL,
                made_by_subject TEXT,
                at BIGINT NOT NULL,
                expires_at BIGINT NOT NULL,
                needs_approval BIGINT NOT NULL,
                approved_by TEXT,
                approved_by_subject TEXT,
                approved_at BIGINT,
                withdrawn_by TEXT,
                withdrawn_by_subject TEXT,
                withdrawn_at BIGINT
            );
            CREATE INDEX offer_grant_customer ON offer_grant (app, kind, value);
            CREATE INDEX offer_grant_age ON offer_grant (app, at)
            """)

    /// The same change as ``Migration/accountsOfGrants``, which explains the columns.
    static let accountsOfGrantsInPostgreSQL = Migration(
        name: "accounts of grants",
        sql: """
            ALTER TABLE offer_grant ADD COLUMN account_kind BIGINT;
            ALTER TABLE offer_grant ADD COLUMN account_value BYTEA;
            CREATE INDEX offer_grant_account ON offer_grant (app, account_kind, account_value)
                WHERE account_kind IS NOT NULL
            """)
}
