extension Migration {
    /// The same changes as in ``coverage``, for PostgreSQL.
    static let postgreSQLCoverage = Migration(
        name: "coverage",
        sql: """
            ALTER TABLE app ADD COLUMN IF NOT EXISTS recovered_since BIGINT;
            WITH old AS (DELETE FROM team_fact WHERE kind = 2 AND \(isUUID("identifier")) RETURNING *)
                INSERT INTO team_fact (app, kind, identifier, name, type, value, set_at)
                SELECT app, 1, \(uuid("identifier")), name, type, value, set_at FROM old ON CONFLICT DO NOTHING;
            UPDATE link SET account_kind = 1, account = \(uuid("account"))
                WHERE account_kind = 2 AND \(isUUID("account"));
            WITH old AS (DELETE FROM link WHERE kind = 2 AND \(isUUID("identifier")) RETURNING *)
                INSERT INTO link (app, kind, identifier, account_kind, account, set_at)
                SELECT app, 1, \(uuid("identifier")), account_kind, account, set_at FROM old ON CONFLICT DO NOTHING;
            DELETE FROM link WHERE kind = 1 AND account_kind = 1 AND account = identifier;
            WITH old AS (DELETE FROM authorisation_holder WHERE kind = 2 AND \(isUUID("value")) RETURNING *)
                INSERT INTO authorisation_holder (app, kind, value, authorisation)
                SELECT app, 1, \(uuid("value")), authorisation FROM old ON CONFLICT DO NOTHING;
            """)

    private static func isUUID(_ column: String) -> String {
        "encode(\(column), 'escape') ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'"
    }

    private static func uuid(_ column: String) -> String {
        "decode(replace(encode(\(column), 'escape'), '-', ''), 'hex')"
    }
}
