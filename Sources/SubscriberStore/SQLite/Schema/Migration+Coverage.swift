extension Migration {
    /// The start of the gapless span of the notification history, and the conversion of usernames that are account
    /// tokens.
    static let coverage = Migration(
        name: "coverage",
        sql: """
            ALTER TABLE app ADD COLUMN recovered_since INTEGER;

            -- A username that is a UUID is an account token. Where both have said something, the token's stays.
            UPDATE OR IGNORE team_fact SET kind = 1, identifier = uuid_bytes(identifier)
                WHERE kind = 2 AND uuid_bytes(identifier) IS NOT NULL;
            UPDATE link SET account_kind = 1, account = uuid_bytes(account)
                WHERE account_kind = 2 AND uuid_bytes(account) IS NOT NULL;
            UPDATE OR IGNORE link SET kind = 1, identifier = uuid_bytes(identifier)
                WHERE kind = 2 AND uuid_bytes(identifier) IS NOT NULL;
            DELETE FROM link WHERE kind = 1 AND account_kind = 1 AND account = identifier;
            UPDATE OR IGNORE authorisation_holder SET kind = 1, value = uuid_bytes(value)
                WHERE kind = 2 AND uuid_bytes(value) IS NOT NULL;
            DELETE FROM team_fact WHERE kind = 2 AND uuid_bytes(identifier) IS NOT NULL;
            DELETE FROM link WHERE kind = 2 AND uuid_bytes(identifier) IS NOT NULL;
            DELETE FROM authorisation_holder WHERE kind = 2 AND uuid_bytes(value) IS NOT NULL;
            """)
}
