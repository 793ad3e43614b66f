extension Migration {
    /// Raw payloads in partitions, so that old ones are dropped together and the disk gets their space back at once.
    ///
    /// ``PayloadPartitions`` explains the bounds. Nothing refers to a partitioned table: each change of one would lock every
    /// partition. The table as it was becomes the first partition. No row is copied, but each is read once.
    static let payloadPartitions = Migration(
        name: "payload partitions",
        sql: """
            ALTER TABLE forward DROP CONSTRAINT forward_payload_fkey;
            ALTER TABLE payload_subscription DROP CONSTRAINT payload_subscription_payload_fkey;

            ALTER TABLE payload RENAME TO payload_1;
            ALTER INDEX payload_pkey RENAME TO payload_1_pkey;
            ALTER INDEX payload_received RENAME TO payload_1_received;
            CREATE TABLE payload (
                notification BIGINT PRIMARY KEY REFERENCES notification,
                received_at BIGINT NOT NULL,
                body BYTEA NOT NULL
            ) PARTITION BY RANGE (notification);
            CREATE INDEX payload_received ON payload (received_at);
            ALTER TABLE payload ATTACH PARTITION payload_1 FOR VALUES FROM (MINVALUE) TO (1099511627776);

            ALTER TABLE payload_subscription RENAME TO payload_subscription_1;
            ALTER INDEX payload_subscription_pkey RENAME TO payload_subscription_1_pkey;
            ALTER INDEX payload_subscription_subscription RENAME TO payload_subscription_1_subscription;
            CREATE TABLE payload_subscription (
                payload BIGINT NOT NULL,
                subscription BIGINT NOT NULL REFERENCES subscription ON DELETE CASCADE,
                PRIMARY KEY (payload, subscription)
            ) PARTITION BY RANGE (payload);
            CREATE INDEX payload_subscription_subscription ON payload_subscription (subscription);
            ALTER TABLE payload_subscription
            ATTACH PARTITION payload_subscription_1 FOR VALUES FROM (MINVALUE) TO (1099511627776)
            """)
}
