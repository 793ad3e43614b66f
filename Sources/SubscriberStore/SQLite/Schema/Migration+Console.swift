extension Migration {
    /// The sessions of the console. They are not exported.
    static let console = Migration(
        name: "console",
        sql: """
            CREATE TABLE console_session (
                -- The SHA-256 hash of the token in the cookie.
                digest BLOB PRIMARY KEY,
                person TEXT NOT NULL,
                -- The person's identifier at the identity provider; NULL for a link.
                subject TEXT,
                -- The names of the roles, separated by spaces.
                roles TEXT NOT NULL,
                started_at INTEGER NOT NULL,
                seen_at INTEGER NOT NULL,
                ended_at INTEGER
            ) STRICT;
            CREATE INDEX console_session_age ON console_session (started_at);
            CREATE TABLE sign_in_link (
                -- The SHA-256 hash of the token in the link.
                digest BLOB PRIMARY KEY,
                person TEXT NOT NULL,
                roles TEXT NOT NULL,
                expires_at INTEGER NOT NULL
            ) STRICT;
            -- Who acknowledged a redemption that no signature explains, and why. NULL for earlier acknowledgements.
            ALTER TABLE redemption ADD COLUMN acknowledged_by TEXT;
            ALTER TABLE redemption ADD COLUMN acknowledgement TEXT;
            CREATE INDEX redemption_acknowledged ON redemption (app, acknowledged_at) WHERE acknowledged_at IS NOT NULL;
            """)
}
