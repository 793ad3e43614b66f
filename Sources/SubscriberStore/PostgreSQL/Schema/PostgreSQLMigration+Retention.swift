extension Migration {
    /// The same table as in ``retention``, for PostgreSQL.
    static let retentionInPostgreSQL = Migration(
        name: "retention",
        sql: """
            CREATE TABLE retention_offer (
                app BIGINT NOT NULL REFERENCES app,
                request_id TEXT COLLATE "C" NOT NULL,
                authorisation BIGINT NOT NULL REFERENCES authorisation ON DELETE CASCADE,
                message_id TEXT NOT NULL,
                form BIGINT NOT NULL,
                at BIGINT NOT NULL,
                PRIMARY KEY (app, request_id)
            );
            CREATE INDEX retention_offer_authorisation ON retention_offer (authorisation);
            CREATE INDEX retention_offer_at ON retention_offer (at);
            """)
}
