extension Migration {
    /// The answers to requests for retention messages, kept for a few minutes.
    static let retention = Migration(
        name: "retention",
        sql: """
            CREATE TABLE retention_offer (
                app INTEGER NOT NULL REFERENCES app,
                request_id TEXT NOT NULL,
                authorisation INTEGER NOT NULL REFERENCES authorisation ON DELETE CASCADE,
                message_id TEXT NOT NULL,
                -- 1 for V1, 2 for a JWS
                form INTEGER NOT NULL,
                at INTEGER NOT NULL,
                PRIMARY KEY (app, request_id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX retention_offer_authorisation ON retention_offer (authorisation);
            CREATE INDEX retention_offer_at ON retention_offer (at);
            """)
}
