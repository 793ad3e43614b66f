extension Migration {
    /// The same change as ``Migration/retentionCases``, which explains the columns.
    static let retentionCasesInPostgreSQL = Migration(
        name: "retention cases",
        sql: """
            ALTER TABLE retention_shown ADD COLUMN retention_case BIGINT;
            ALTER TABLE authorisation ADD COLUMN retention_case BIGINT
            """)
}
