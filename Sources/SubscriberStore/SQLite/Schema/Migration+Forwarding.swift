extension Migration {
    /// The outbox. A row is deleted when its receiver has accepted the notification.
    static let forwarding = Migration(
        name: "forwarding",
        sql: """
            CREATE TABLE receiver (
                id INTEGER PRIMARY KEY,
                url TEXT NOT NULL UNIQUE,
                pending INTEGER NOT NULL DEFAULT 0,
                dead INTEGER NOT NULL DEFAULT 0
            ) STRICT;

            CREATE TABLE forward (
                -- Never used again, so a late report cannot hit another row.
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                payload INTEGER NOT NULL REFERENCES payload,
                receiver INTEGER NOT NULL REFERENCES receiver,
                -- The first subscription that the payload names. Its notifications are forwarded one after the other.
                subscription INTEGER,
                failures INTEGER NOT NULL DEFAULT 0,
                -- NULL for one that waits for an earlier one, and for a dead one.
                due_at INTEGER,
                died_at INTEGER
            ) STRICT;
            CREATE INDEX forward_due ON forward (receiver, due_at) WHERE due_at IS NOT NULL;
            CREATE INDEX forward_queue ON forward (receiver, subscription, id) WHERE died_at IS NULL;
            CREATE INDEX forward_pending ON forward (receiver, id) WHERE died_at IS NULL;
            CREATE INDEX forward_dead ON forward (id) WHERE died_at IS NOT NULL;
            CREATE INDEX forward_payload ON forward (payload);
            """)
}
