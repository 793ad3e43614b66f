extension Migration {
    /// The reviews of customers that find events, and room for events in the outbox.
    static let customerReviews = Migration(
        name: "customer reviews",
        sql: """
            -- The apps whose events are sent.
            CREATE TABLE reviewed_app (
                app INTEGER PRIMARY KEY REFERENCES app,
                since INTEGER NOT NULL,
                -- The highest subscription at that time. Those up to it are not new.
                last_subscription INTEGER NOT NULL,
                -- The digest of the rules of the last reviews, in hexadecimal.
                rules TEXT NOT NULL,
                -- After a change of the rules, all customers are reviewed: those up to enrolled are due, and those up to
                -- enrolling will be.
                enrolled INTEGER NOT NULL,
                enrolling INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE customer_review (
                subscription INTEGER PRIMARY KEY REFERENCES subscription ON DELETE CASCADE,
                app INTEGER NOT NULL REFERENCES app,
                -- The time of the next review; NULL if another subscription represents the customer.
                due_at INTEGER,
                -- What the last review found, as JSON; NULL before the first.
                state TEXT,
                -- Increases with each change of the customer's records.
                version INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            CREATE INDEX customer_review_due ON customer_review (app, due_at) WHERE due_at IS NOT NULL;

            CREATE TABLE new_forward (
                -- Never used again, so a late report cannot hit another row.
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                -- The notification; NULL for an event.
                payload INTEGER REFERENCES payload,
                receiver INTEGER NOT NULL REFERENCES receiver,
                -- The first subscription that the payload names. Its notifications are forwarded one after the other.
                subscription INTEGER,
                failures INTEGER NOT NULL DEFAULT 0,
                -- NULL for one that waits for an earlier one, and for a dead one.
                due_at INTEGER,
                died_at INTEGER,
                -- The ID of an event; NULL for a notification.
                event BLOB,
                -- The first subscription of the event's customer, whose events are sent one after the other.
                customer INTEGER,
                app INTEGER REFERENCES app,
                body BLOB,
                created_at INTEGER,
                CHECK ((payload IS NULL) = (event IS NOT NULL))
            ) STRICT;
            INSERT INTO new_forward (id, payload, receiver, subscription, failures, due_at, died_at)
                SELECT id, payload, receiver, subscription, failures, due_at, died_at FROM forward;
            DELETE FROM sqlite_sequence WHERE name = 'new_forward';
            INSERT INTO sqlite_sequence (name, seq) SELECT 'new_forward', seq FROM sqlite_sequence WHERE name = 'forward';
            DROP TABLE forward;
            ALTER TABLE new_forward RENAME TO forward;
            CREATE INDEX forward_due ON forward (receiver, due_at) WHERE due_at IS NOT NULL;
            CREATE INDEX forward_queue ON forward (receiver, subscription, id) WHERE died_at IS NULL;
            CREATE INDEX forward_pending ON forward (receiver, id) WHERE died_at IS NULL;
            CREATE INDEX forward_dead ON forward (id) WHERE died_at IS NOT NULL;
            CREATE INDEX forward_payload ON forward (payload);
            CREATE INDEX forward_customer ON forward (customer, receiver, id) WHERE event IS NOT NULL;
            CREATE INDEX forward_event_dead ON forward (created_at) WHERE event IS NOT NULL AND died_at IS NOT NULL;
            """)
}
