extension Migration {
    /// Apps, subscriptions, the facts about them and the identifiers in those facts.
    ///
    /// Times are in milliseconds since 1970. An `app` is a bundle ID in one environment, so the environment is part of
    /// every key that contains an `app` or a `subscription`.
    static let subscriptions = Migration(
        name: "subscriptions",
        sql: """
            CREATE TABLE app (
                id INTEGER PRIMARY KEY,
                bundle_id TEXT NOT NULL,
                environment TEXT NOT NULL,
                notifications INTEGER NOT NULL DEFAULT 0,
                subscriptions INTEGER NOT NULL DEFAULT 0,
                erased_subscriptions INTEGER NOT NULL DEFAULT 0,
                last_received_at INTEGER,
                last_signed_date INTEGER,
                UNIQUE (bundle_id, environment)
            ) STRICT;

            CREATE TABLE subscription (
                id INTEGER PRIMARY KEY,
                app INTEGER NOT NULL REFERENCES app,
                original_transaction_id TEXT NOT NULL,
                -- When the App Store should be asked, because the period is over and it has said nothing since.
                check_at INTEGER,
                UNIQUE (app, original_transaction_id)
            ) STRICT;
            CREATE INDEX subscription_check ON subscription (check_at) WHERE check_at IS NOT NULL;

            CREATE TABLE fact (
                subscription INTEGER NOT NULL REFERENCES subscription ON DELETE CASCADE,
                kind INTEGER NOT NULL,
                -- Empty for the original_transaction_id of the subscription.
                transaction_id TEXT NOT NULL,
                signed_date INTEGER NOT NULL,
                digest BLOB NOT NULL,
                value BLOB NOT NULL,
                PRIMARY KEY (subscription, kind, transaction_id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX fact_transaction ON fact (transaction_id) WHERE transaction_id != '';

            -- The accounts (kind 1) and Apple Accounts (kind 3) that facts about a subscription have named.
            CREATE TABLE identifier (
                app INTEGER NOT NULL REFERENCES app,
                kind INTEGER NOT NULL,
                value BLOB NOT NULL,
                subscription INTEGER NOT NULL REFERENCES subscription ON DELETE CASCADE,
                PRIMARY KEY (app, kind, value, subscription)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX identifier_subscription ON identifier (subscription);
            """)
}
