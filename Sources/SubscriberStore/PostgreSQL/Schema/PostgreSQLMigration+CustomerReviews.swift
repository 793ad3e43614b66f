extension Migration {
    /// The same change as ``Migration/customerReviews``, which explains the columns. The previous release sends no events,
    /// because they refer to no payload, and none of its queues contains one, because they name no subscription.
    static let customerReviewsInPostgreSQL = Migration(
        name: "customer reviews",
        sql: """
            CREATE TABLE reviewed_app (
                app BIGINT PRIMARY KEY REFERENCES app,
                since BIGINT NOT NULL,
                last_subscription BIGINT NOT NULL,
                rules TEXT NOT NULL,
                enrolled BIGINT NOT NULL,
                enrolling BIGINT NOT NULL
            );
            CREATE TABLE customer_review (
                subscription BIGINT PRIMARY KEY REFERENCES subscription ON DELETE CASCADE,
                app BIGINT NOT NULL REFERENCES app,
                due_at BIGINT,
                state TEXT,
                version BIGINT NOT NULL DEFAULT 0
            ) WITH (fillfactor = 70);
            CREATE INDEX customer_review_due ON customer_review (app, due_at) WHERE due_at IS NOT NULL;

            ALTER TABLE forward ALTER COLUMN payload DROP NOT NULL;
            ALTER TABLE forward ADD COLUMN event BYTEA, ADD COLUMN customer BIGINT, ADD COLUMN app BIGINT REFERENCES app, ADD COLUMN body BYTEA,
                ADD COLUMN created_at BIGINT, ADD CHECK ((payload IS NULL) = (event IS NOT NULL));
            CREATE INDEX forward_customer ON forward (customer, receiver, id) WHERE event IS NOT NULL;
            CREATE INDEX forward_event_dead ON forward (created_at) WHERE event IS NOT NULL AND died_at IS NOT NULL
            """)
}
