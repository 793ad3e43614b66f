extension Migration {
    /// The same changes as ``Migration/renewalChanges``, which explains the columns.
    static let renewalChangesInPostgreSQL = Migration(
        name: "renewal changes",
        sql: """
            CREATE TABLE renewal_change (
                subscription BIGINT NOT NULL REFERENCES subscription ON DELETE CASCADE,
                kind BIGINT NOT NULL,
                transaction_id TEXT COLLATE "C" NOT NULL,
                signed_date BIGINT NOT NULL,
                digest BYTEA NOT NULL,
                value BYTEA NOT NULL,
                PRIMARY KEY (subscription, kind, transaction_id)
            )
            """)
}
