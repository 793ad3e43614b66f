extension Migration {
    /// The retention case of an answer, and of a signature in it.
    static let retentionCases = Migration(
        name: "retention cases",
        sql: """
            -- The place of the case in the configuration, from 1; NULL if none applied.
            ALTER TABLE retention_shown ADD COLUMN retention_case INTEGER;
            ALTER TABLE authorisation ADD COLUMN retention_case INTEGER;
            """)
}
