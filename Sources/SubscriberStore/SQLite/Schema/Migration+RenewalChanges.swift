extension Migration {
    /// The history of the renewal infos, which replace each other in `fact`.
    static let renewalChanges = Migration(
        name: "renewal changes",
        sql: """
            -- Like fact, but decisions do not read it. One row for each date and type of notification.
            CREATE TABLE renewal_change (
                subscription INTEGER NOT NULL REFERENCES subscription ON DELETE CASCADE,
                kind INTEGER NOT NULL,
                transaction_id TEXT NOT NULL,
                signed_date INTEGER NOT NULL,
                digest BLOB NOT NULL,
                value BLOB NOT NULL,
                PRIMARY KEY (subscription, kind, transaction_id)
            ) STRICT, WITHOUT ROWID;
            """)
}
