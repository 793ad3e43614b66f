extension Migration {
    /// The same changes as ``Migration/console``, which explains the columns.
    static let consoleInPostgreSQL = Migration(
        name: "console",
        sql: """
            CREATE TABLE console_session (
                digest BYTEA PRIMARY KEY,
                person TEXT NOT NULL,
                subject TEXT,
                roles TEXT NOT NULL,
                started_at BIGINT NOT NULL,
                seen_at BIGINT NOT NULL,
                ended_at BIGINT
            );
            CREATE INDEX console_session_age ON console_session (started_at);
            CREATE TABLE sign_in_link (
                digest BYTEA PRIMARY KEY,
                person TEXT NOT NULL,
                roles TEXT NOT NULL,
                expires_at BIGINT NOT NULL
            );
            ALTER TABLE redemption ADD COLUMN acknowledged_by TEXT, ADD COLUMN acknowledgement TEXT;
            CREATE INDEX redemption_acknowledged ON redemption (app, acknowledged_at) WHERE acknowledged_at IS NOT NULL
            """)
}
