/// The migrations to partitions of raw payloads. Old payloads are dropped together, which frees their disk space at
/// once. ``PayloadPartitions`` explains the bounds.
///
/// The existing table becomes the first partition. No row is copied, but the second migration reads each row while
/// changes continue, to check that it is within the bounds. Changes wait during the third migration, which has nothing
/// left to read.
extension Migration {
    static let payloadBounds = Migration(
        name: "payload bounds",
        sql: """
            ALTER TABLE payload ADD CONSTRAINT payload_bounds CHECK (notification < \(PayloadPartitions.size)) NOT VALID;
            ALTER TABLE payload_subscription
            ADD CONSTRAINT payload_subscription_bounds CHECK (payload < \(PayloadPartitions.size)) NOT VALID
            """)

    static let payloadBoundsHold = Migration(
        name: "payload bounds hold",
        sql: """
            ALTER TABLE payload VALIDATE CONSTRAINT payload_bounds;
            ALTER TABLE payload_subscription VALIDATE CONSTRAINT payload_subscription_bounds
            """)

    /// A partitioned table has no foreign keys in either direction. Checking a foreign key would lock every partition,
    /// and creating or dropping a partition would lock the other table. Statements delete a payload together with the
    /// rows that refer to it. Under a version without partitions, such rows can outlive the payload until their
    /// partition is dropped, but have no effect.
    static let payloadPartitions = Migration(
        name: "payload partitions",
        sql: """
            SELECT pg_advisory_xact_lock(\(PostgreSQLWriter.everything));
            ALTER TABLE forward DROP CONSTRAINT forward_payload_fkey;

            ALTER TABLE payload RENAME TO payload_1;
            ALTER TABLE payload_1 DROP CONSTRAINT payload_notification_fkey;
            ALTER INDEX payload_pkey RENAME TO payload_1_pkey;
            ALTER INDEX payload_received RENAME TO payload_1_received;
            CREATE TABLE payload (
                notification BIGINT PRIMARY KEY, received_at BIGINT NOT NULL, body BYTEA NOT NULL
            ) PARTITION BY RANGE (notification);
            CREATE INDEX payload_received ON payload (received_at);

            ALTER TABLE payload_subscription RENAME TO payload_subscription_1;
            ALTER TABLE payload_subscription_1 DROP CONSTRAINT payload_subscription_payload_fkey;
            ALTER TABLE payload_subscription_1 DROP CONSTRAINT payload_subscription_subscription_fkey;
            ALTER INDEX payload_subscription_pkey RENAME TO payload_subscription_1_pkey;
            ALTER INDEX payload_subscription_subscription RENAME TO payload_subscription_1_subscription;
            CREATE TABLE payload_subscription (
                payload BIGINT NOT NULL, subscription BIGINT NOT NULL, PRIMARY KEY (payload, subscription)
            ) PARTITION BY RANGE (payload);
            CREATE INDEX payload_subscription_subscription ON payload_subscription (subscription);

            ALTER TABLE payload ATTACH PARTITION payload_1 FOR VALUES FROM (MINVALUE) TO (\(PayloadPartitions.size));
            ALTER TABLE payload_1 DROP CONSTRAINT payload_bounds;
            ALTER TABLE payload_subscription
            ATTACH PARTITION payload_subscription_1 FOR VALUES FROM (MINVALUE) TO (\(PayloadPartitions.size));
            ALTER TABLE payload_subscription_1 DROP CONSTRAINT payload_subscription_bounds
            """)
}
