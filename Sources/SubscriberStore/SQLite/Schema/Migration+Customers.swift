extension Migration {
    /// Callers' statements about customers.
    static let customers = Migration(
        name: "customers",
        sql: """
            CREATE TABLE team_fact (
                app INTEGER NOT NULL REFERENCES app,
                kind INTEGER NOT NULL,
                identifier BLOB NOT NULL,
                name TEXT NOT NULL,
                -- 1 text, 2 number, 3 bool
                type INTEGER NOT NULL,
                value TEXT NOT NULL,
                set_at INTEGER NOT NULL,
                PRIMARY KEY (app, kind, identifier, name)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE link (
                app INTEGER NOT NULL REFERENCES app,
                kind INTEGER NOT NULL,
                identifier BLOB NOT NULL,
                account_kind INTEGER NOT NULL,
                account BLOB NOT NULL,
                set_at INTEGER NOT NULL,
                PRIMARY KEY (app, kind, identifier)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX link_account ON link (app, account_kind, account);
            """)
}
