extension Migration {
    /// The permanent record of answers to requests for retention messages. `retention_offer` serves repeated requests only.
    static let retentionShown = Migration(
        name: "retention shown",
        sql: """
            CREATE TABLE retention_shown (
                app INTEGER NOT NULL REFERENCES app,
                request_id TEXT NOT NULL,
                -- The subscription, as in authorisation_holder. After an erasure, the kind is 0 and the value is random.
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                answer TEXT NOT NULL,
                reason TEXT NOT NULL,
                message_id TEXT,
                product_id TEXT,
                offer_id TEXT,
                rule TEXT,
                at INTEGER NOT NULL,
                PRIMARY KEY (app, request_id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX retention_shown_customer ON retention_shown (app, kind, value);
            """)
}
