extension Migration {
    /// The data for requests to the App Store: the recovery checkpoint, and the due subscriptions of each app.
    static let asking = Migration(
        name: "asking",
        sql: """
            -- The time up to which the notification history has been read.
            ALTER TABLE app ADD COLUMN recovered_until INTEGER;

            -- Each app has limits of its own, so its subscriptions are claimed by themselves.
            DROP INDEX subscription_check;
            CREATE INDEX subscription_check ON subscription (app, check_at) WHERE check_at IS NOT NULL;
            """)
}
