extension Migration {
    /// The personal links of campaigns, and the visits to the pages of links.
    static let mailedLinks = Migration(
        name: "mailed links",
        sql: """
            CREATE TABLE mailed_link (
                app INTEGER NOT NULL REFERENCES app,
                -- 8 bytes, the same for the same campaign and customer.
                id BLOB NOT NULL,
                campaign TEXT NOT NULL,
                -- The customer, as in authorisation_holder. After an erasure, the kind is 0 and the value is random.
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                -- 1 if the customer got the link; 2 if the customer was held out.
                arm INTEGER NOT NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                made_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                claimed_at INTEGER,
                PRIMARY KEY (app, id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX mailed_link_customer ON mailed_link (app, kind, value);
            CREATE INDEX mailed_link_campaign ON mailed_link (app, campaign, arm, claimed_at);
            CREATE INDEX offer_grant_persons ON offer_grant (app, at) WHERE reason <> 'link:campaign';
            CREATE TABLE link_visit (
                app INTEGER NOT NULL REFERENCES app,
                campaign TEXT NOT NULL,
                -- The number of days since 1970.
                day INTEGER NOT NULL,
                -- 1 for pages of personal links.
                is_personal INTEGER NOT NULL,
                visits INTEGER NOT NULL,
                PRIMARY KEY (app, campaign, day, is_personal)
            ) STRICT, WITHOUT ROWID;
            """)
}
