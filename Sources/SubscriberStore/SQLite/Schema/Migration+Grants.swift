extension Migration {
    /// The grants of offers to single customers.
    static let grants = Migration(
        name: "grants",
        sql: """
            CREATE TABLE offer_grant (
                -- The 16 bytes of a UUID.
                id BLOB PRIMARY KEY,
                app INTEGER NOT NULL REFERENCES app,
                -- The customer, as in authorisation_holder. After an erasure, the kind is 0 and the value is random.
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                reason TEXT NOT NULL,
                note TEXT,
                ticket TEXT,
                -- 1 if the grant also replaces perCustomer and cooldown.
                lifts_limits INTEGER NOT NULL,
                made_by TEXT NOT NULL,
                made_by_subject TEXT,
                at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                -- 1 for a grant above the daily budget, which counts only once approved_at is set.
                needs_approval INTEGER NOT NULL,
                approved_by TEXT,
                approved_by_subject TEXT,
                approved_at INTEGER,
                withdrawn_by TEXT,
                withdrawn_by_subject TEXT,
                withdrawn_at INTEGER
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX offer_grant_customer ON offer_grant (app, kind, value);
            CREATE INDEX offer_grant_age ON offer_grant (app, at);
            """)

    /// The account for which each grant was made.
    static let accountsOfGrants = Migration(
        name: "accounts of grants",
        sql: """
            -- As in authorisation_holder. Both are NULL if no account is known, for earlier grants and after an erasure.
            ALTER TABLE offer_grant ADD COLUMN account_kind INTEGER;
            ALTER TABLE offer_grant ADD COLUMN account_value BLOB;
            CREATE INDEX offer_grant_account ON offer_grant (app, account_kind, account_value)
                WHERE account_kind IS NOT NULL;
            """)
}
