extension Migration {
    /// The same change as ``Migration/trackedFacts``, which explains the columns.
    static let trackedFactsInPostgreSQL = Migration(
        name: "tracked facts",
        sql: """
            CREATE TABLE tracked_fact (
                app BIGINT NOT NULL REFERENCES app,
                kind BIGINT NOT NULL,
                identifier BYTEA NOT NULL,
                name TEXT COLLATE "C" NOT NULL,
                day BIGINT NOT NULL,
                at BIGINT NOT NULL,
                type BIGINT NOT NULL,
                value TEXT COLLATE "C" NOT NULL,
                PRIMARY KEY (app, kind, identifier, name, day)
            )
            """)
}
