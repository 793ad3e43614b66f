extension Migration {
    /// The signatures issued for decisions, and the redemptions reported by the App Store.
    static let ledger = Migration(
        name: "ledger",
        sql: """
            -- Redemptions before the ledger existed need no authorisation.
            CREATE TABLE ledger (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                created_at INTEGER NOT NULL
            ) STRICT;
            INSERT INTO ledger VALUES (1, CAST(strftime('%s', 'now') AS INTEGER) * 1000);

            CREATE TABLE authorisation (
                id INTEGER PRIMARY KEY,
                app INTEGER NOT NULL REFERENCES app,
                nonce TEXT NOT NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                -- 1 outstanding or expired, 2 redeemed, 3 withdrawn
                state INTEGER NOT NULL,
                at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                -- The authorisation whose slot this one shares: the first that was outstanding.
                slot INTEGER NOT NULL,
                UNIQUE (app, nonce)
            ) STRICT;
            CREATE INDEX authorisation_offer ON authorisation (app, offer_id, product_id, state, expires_at);

            -- Who holds an authorisation: accounts (kinds 1 and 2) and subscriptions (kind 4).
            CREATE TABLE authorisation_holder (
                app INTEGER NOT NULL REFERENCES app,
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                authorisation INTEGER NOT NULL REFERENCES authorisation ON DELETE CASCADE,
                PRIMARY KEY (app, kind, value, authorisation)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX authorisation_holder_of ON authorisation_holder (authorisation);

            -- Of promotional offers only. The subscription is NULL after its erasure, so that totals stay.
            CREATE TABLE redemption (
                id INTEGER PRIMARY KEY,
                app INTEGER NOT NULL REFERENCES app,
                subscription INTEGER REFERENCES subscription ON DELETE SET NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                -- Counts the redemptions of this offer by this subscription, from 0.
                ordinal INTEGER NOT NULL,
                at INTEGER NOT NULL,
                authorisation INTEGER REFERENCES authorisation ON DELETE SET NULL,
                acknowledged_at INTEGER,
                UNIQUE (subscription, offer_id, product_id, ordinal)
            ) STRICT;
            CREATE INDEX redemption_offer ON redemption (app, offer_id, product_id);
            CREATE INDEX redemption_authorisation ON redemption (authorisation);
            CREATE INDEX redemption_unexplained ON redemption (at) WHERE authorisation IS NULL AND acknowledged_at IS NULL;
            """)

    /// The pairing of the two signatures of one answer, and the time from which each offer is decided by a rule.
    static let ledgerOffers = Migration(
        name: "ledger of offers",
        sql: """
            -- The other signature of the same answer. Both promise the offer once.
            ALTER TABLE authorisation ADD COLUMN twin INTEGER REFERENCES authorisation ON DELETE SET NULL;
            CREATE INDEX authorisation_twin ON authorisation (twin) WHERE twin IS NOT NULL;

            -- A redemption that shows in the renewal info first moves to its period later. This is when it was shown first.
            ALTER TABLE redemption ADD COLUMN first_at INTEGER NOT NULL DEFAULT 0;
            UPDATE redemption SET first_at = at;

            -- Redemptions before an offer was decided by a rule need no authorisation.
            CREATE TABLE ledger_offer (
                app INTEGER NOT NULL REFERENCES app,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                since INTEGER NOT NULL,
                PRIMARY KEY (app, product_id, offer_id)
            ) STRICT, WITHOUT ROWID;
            """)
}
