extension Migration {
    /// Counts in their own tables, with a row for each counting connection, so that none waits for another.
    static let counts = Migration(
        name: "counts",
        sql: """
            CREATE TABLE app_count (
                app INTEGER NOT NULL REFERENCES app,
                shard INTEGER NOT NULL,
                notifications INTEGER NOT NULL,
                subscriptions INTEGER NOT NULL,
                erased_subscriptions INTEGER NOT NULL,
                last_received_at INTEGER,
                last_signed_date INTEGER,
                PRIMARY KEY (app, shard)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO app_count
            SELECT id, 0, notifications, subscriptions, erased_subscriptions, last_received_at, last_signed_date FROM app;
            ALTER TABLE app DROP COLUMN notifications;
            ALTER TABLE app DROP COLUMN subscriptions;
            ALTER TABLE app DROP COLUMN erased_subscriptions;
            ALTER TABLE app DROP COLUMN last_received_at;
            ALTER TABLE app DROP COLUMN last_signed_date;

            CREATE TABLE receiver_count (
                receiver INTEGER NOT NULL REFERENCES receiver,
                shard INTEGER NOT NULL,
                pending INTEGER NOT NULL,
                dead INTEGER NOT NULL,
                PRIMARY KEY (receiver, shard)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO receiver_count SELECT id, 0, pending, dead FROM receiver;
            ALTER TABLE receiver DROP COLUMN pending;
            ALTER TABLE receiver DROP COLUMN dead;
            """)
}
