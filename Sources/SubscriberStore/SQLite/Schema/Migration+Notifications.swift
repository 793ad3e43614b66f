extension Migration {
    /// Notifications, which are kept permanently, and their raw payloads, which are pruned.
    static let notifications = Migration(
        name: "notifications",
        sql: """
            CREATE TABLE notification (
                id INTEGER PRIMARY KEY,
                app INTEGER NOT NULL REFERENCES app,
                notification_uuid TEXT NOT NULL,
                type TEXT NOT NULL,
                subtype TEXT,
                signed_date INTEGER NOT NULL,
                received_at INTEGER NOT NULL,
                UNIQUE (app, notification_uuid)
            ) STRICT;

            CREATE TABLE payload (
                notification INTEGER PRIMARY KEY REFERENCES notification,
                received_at INTEGER NOT NULL,
                body BLOB NOT NULL
            ) STRICT;
            CREATE INDEX payload_received ON payload (received_at);

            -- The subscriptions that a payload names, for their erasure.
            CREATE TABLE payload_subscription (
                payload INTEGER NOT NULL REFERENCES payload ON DELETE CASCADE,
                subscription INTEGER NOT NULL REFERENCES subscription ON DELETE CASCADE,
                PRIMARY KEY (payload, subscription)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX payload_subscription_subscription ON payload_subscription (subscription);
            """)
}
