extension Migration {
    /// The values of the facts that the configuration lists under `track`, with their dates.
    static let trackedFacts = Migration(
        name: "tracked facts",
        sql: """
            CREATE TABLE tracked_fact (
                app INTEGER NOT NULL REFERENCES app,
                kind INTEGER NOT NULL,
                identifier BLOB NOT NULL,
                name TEXT NOT NULL,
                -- Days since 1970 (UTC). Of each day, the last value is kept.
                day INTEGER NOT NULL,
                at INTEGER NOT NULL,
                -- As in team_fact; 0 if the fact was removed.
                type INTEGER NOT NULL,
                value TEXT NOT NULL,
                PRIMARY KEY (app, kind, identifier, name, day)
            ) STRICT, WITHOUT ROWID;
            """)
}
