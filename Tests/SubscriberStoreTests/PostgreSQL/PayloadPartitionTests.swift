import OfferCore
import OfferPostgreSQL
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("Raw payloads in partitions of PostgreSQL")
struct PayloadPartitionTests {
    private static let receiver = "https://a.example"

    @Test("a partition begins when the newest has lasted for its span, and goes when all in it is old")
    func life() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        try await store.receive(1, at: 0)
        try await store.receive(2, at: 6)
        #expect(try await store.prune(at: 6) == 0)
        #expect(try database.partitions == ["payload_1"])
        #expect(try await store.prune(at: 8) == 0)
        #expect(try database.partitions == ["payload_1", "payload_2"])
        try await store.receive(3, at: 9)
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.payload_1") == [2])
        #expect(try database.numbers("SELECT notification FROM offer_signer.payload_2") == [1 << 40])
        #expect(try await store.prune(at: 10) == 0, "the partition has not lasted for its span")

        // The last payload of the first partition was received on day 6.
        #expect(try await store.prune(at: 35) == 0)
        #expect(try await store.payloads == ["n1", "n2", "n3"])
        #expect(try await store.prune(at: 37) == 1)
        #expect(try await store.payloads == ["n3"])
        #expect(try database.partitions == ["payload_2", "payload_3"])
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.payload_subscription") == [1])
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .known)
        #expect(try await store.customer(Sample.account(1)) != nil, "the facts stay")
        #expect(try await store.check() == [])
    }

    @Test("a partition stays while a payload in it is to be forwarded, and takes dead letters with it")
    func forwards() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        for number in 1...120 { try await store.receive(UInt64(number), at: 0, to: [Self.receiver]) }
        _ = try await store.prune(at: 8)
        #expect(try await store.prune(at: 40) == 0)
        while let forward = try await store.claimForwards(
            to: Self.receiver, dueAt: Sample.day(40), leaseEnd: Sample.day(41), limit: 1
        ).first {
            try await store.settle(forward.id, .dead(at: Sample.day(40)))
        }
        #expect(try await store.receivers().map(\.dead) == [120])
        #expect(try await store.prune(at: 40) == 1)
        #expect(try await store.receivers().map(\.dead) == [0])
        #expect(try await store.payloads == [])
    }

    @Test("an erasure and a new reading work in every partition")
    func erasure() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        try await store.receive(1, at: 0)
        _ = try await store.prune(at: 8)
        try await store.receive(1, at: 9, as: "later")
        try await store.receive(2, at: 9)
        let stored = try await store.payloads(after: nil, limit: 9)
        let reread = stored.map { RereadPayload(id: $0.id, facts: [], digests: []) }
        #expect(try await store.rederive(reread) == 0)
        try await store.receive(1, at: 10, as: "last")
        try await store.receive(1, at: 10, as: "very last")
        let erasure = try await store.erase(Sample.account(1), in: Sample.production)
        #expect(erasure.payloads == 2)
        #expect(try await store.payloads == ["n1", "later", "n2"], "their mentions were withdrawn")
        try await store.receive(3, at: 11)
        #expect(try await store.prunePayloads(receivedBefore: Sample.day(12), limit: 9) == 4)
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.payload_subscription") == [0])
    }

    @Test("while an export reads the tables, pruning is put off, and changes go on")
    func export() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        try await store.receive(1, at: 0)
        let reader = try database.connect()
        try reader.run("BEGIN; LOCK TABLE offer_signer.payload IN ACCESS SHARE MODE")
        async let pruning = store.prunePartitions(
            receivedBefore: Sample.day(-22), span: .days(7), at: Sample.day(8))
        for number in 2...100 as ClosedRange<UInt64> { try await store.receive(number, at: 8) }
        #expect(try await pruning?.isPutOff == true)
        #expect(try database.partitions == ["payload_1"])
        try reader.run("ROLLBACK")
        #expect(try await store.prune(at: 8) == 0)
        #expect(try database.partitions == ["payload_1", "payload_2"])
    }

    @Test("notifications find their partition although another cannot be dropped")
    func lockedPartition() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        try await store.receive(1, at: 0)
        _ = try await store.prune(at: 8)
        try await store.receive(2, at: 9)
        let reader = try database.connect()
        try reader.run("BEGIN; LOCK TABLE offer_signer.payload_1 IN ACCESS SHARE MODE")
        let pruning = try await store.prunePartitions(
            receivedBefore: Sample.day(10), span: .days(7), at: Sample.day(40))
        #expect(pruning?.isPutOff == true && pruning?.dropped == 0)
        #expect(try database.partitions == ["payload_1", "payload_2", "payload_3"])
        try await store.receive(3, at: 40)
        #expect(try database.numbers("SELECT notification FROM offer_signer.payload_3") == [2 << 40])
        try reader.run("ROLLBACK")
        #expect(try await store.prune(at: 40) == 2)
    }

    @Test("notifications go to the newest partition after a process ended before they did")
    func interrupted() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        try await store.receive(1, at: 0)
        try database.execute(
            """
            SET search_path = offer_signer;
            CREATE TABLE payload_2 PARTITION OF payload FOR VALUES FROM (\(1 << 40)) TO (\(2 << 40));
            CREATE TABLE payload_subscription_2 PARTITION OF payload_subscription
            FOR VALUES FROM (\(1 << 40)) TO (\(2 << 40))
            """)
        try await store.receive(2, at: 8)
        _ = try await store.prune(at: 8)
        try await store.receive(3, at: 8)
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.payload_1") == [2])
        #expect(try database.numbers("SELECT notification FROM offer_signer.payload_2") == [1 << 40])
        // Never back to numbers that were given.
        _ = try await store.prune(at: 8)
        try await store.receive(4, at: 8)
        #expect(try database.numbers("SELECT max(notification) FROM offer_signer.payload_2") == [1 << 40 + 1])
    }

    @Test("processes that prune at the same time begin one partition, and none loses a payload")
    func together() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let stores = try database.open(3)
        defer { for store in stores { try? store.close() } }
        try await stores[0].receive(0, at: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, store) in stores.enumerated() {
                group.addTask { _ = try await store.prune(at: 8) }
                for number in 1...40 {
                    group.addTask { try await store.receive(UInt64(place * 40 + number), at: 8) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.partitions == ["payload_1", "payload_2"])
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.payload") == [121])
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.payload_subscription") == [121])
    }

    @Test("the table of an earlier version becomes the first partition, and that version goes on with it")
    func upgrade() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let earlier = try database.open()
        try await earlier.receive(1, at: 0)
        try database.execute(Self.downgrade)
        try await earlier.receive(2, at: 0)
        try database.execute(Self.withoutLaterTables)
        let store = try database.open()
        defer { try? store.close() }
        #expect(try await store.payloads == ["n1", "n2"])
        try await earlier.receive(3, at: 1)
        try earlier.close()
        #expect(try await store.prune(at: 8) == 0)
        try await store.receive(4, at: 9)
        #expect(try await store.payloads == ["n1", "n2", "n3", "n4"])
        #expect(try database.partitions == ["payload_1", "payload_2"])
        #expect(try await store.check() == [])
        try database.execute("DELETE FROM offer_signer.payload WHERE notification = 1")
        #expect(try await store.check() == [], "it waited for no receiver")
        try await store.receive(5, at: 9, to: [Self.receiver])
        try database.execute("DELETE FROM offer_signer.payload_2")
        #expect(try await store.check().first?.contains("of forward refers to a payload") == true)
    }

    /// The tables as they were before there were partitions.
    private static let downgrade = """
        SET search_path = offer_signer;
        ALTER TABLE payload DETACH PARTITION payload_1;
        DROP TABLE payload;
        ALTER TABLE payload_1 RENAME TO payload;
        ALTER INDEX payload_1_pkey RENAME TO payload_pkey;
        ALTER INDEX payload_1_received RENAME TO payload_received;
        ALTER TABLE payload_subscription DETACH PARTITION payload_subscription_1;
        DROP TABLE payload_subscription;
        ALTER TABLE payload_subscription_1 RENAME TO payload_subscription;
        ALTER INDEX payload_subscription_1_pkey RENAME TO payload_subscription_pkey;
        ALTER INDEX payload_subscription_1_subscription RENAME TO payload_subscription_subscription;
        ALTER TABLE forward ADD CONSTRAINT forward_payload_fkey FOREIGN KEY (payload) REFERENCES payload;
        ALTER TABLE payload
        ADD CONSTRAINT payload_notification_fkey FOREIGN KEY (notification) REFERENCES notification;
        ALTER TABLE payload_subscription
        ADD CONSTRAINT payload_subscription_subscription_fkey
        FOREIGN KEY (subscription) REFERENCES subscription ON DELETE CASCADE;
        ALTER TABLE payload_subscription
        ADD CONSTRAINT payload_subscription_payload_fkey FOREIGN KEY (payload) REFERENCES payload ON DELETE CASCADE;
        DELETE FROM migration WHERE number > 3
        """

    /// Takes away what later migrations add, so that they can run again.
    private static let withoutLaterTables = """
        SET search_path = offer_signer;
        DROP TRIGGER redemption_counted ON redemption;
        DROP FUNCTION count_redemption, count_authorisation_by_day, count_redemption_by_day, count_exposure_by_day,
            add_to_offer_day, count_link CASCADE;
        DROP TABLE redemption_count, offer_day, link_count, sample_size, announcement, exposure, retention_shown, renewal_change, idempotent_request, offer_event, console_session, sign_in_link, offer_grant,
            report, mailed_link, link_visit, customer_review, reviewed_app, tracked_fact;
        ALTER TABLE forward DROP COLUMN event, DROP COLUMN customer, DROP COLUMN app, DROP COLUMN body,
            DROP COLUMN created_at;
        DROP INDEX redemption_acknowledged;
        ALTER TABLE redemption DROP COLUMN is_lasting, DROP COLUMN acknowledged_by, DROP COLUMN acknowledgement;
        ALTER TABLE subscription DROP COLUMN lacks_announcements;
        ALTER TABLE app DROP COLUMN changes_since, DROP COLUMN changes_until;
        ALTER TABLE authorisation DROP COLUMN valid_until, DROP COLUMN rule, DROP COLUMN channel,
            DROP COLUMN retention_case
        """
}

extension PostgreSQLDatabaseOfTest {
    fileprivate var partitions: [String] {
        get throws {
            try connect().executeOnce(
                """
                SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                WHERE inhparent = 'offer_signer.payload'::regclass ORDER BY relname
                """
            ).rows.compactMap { row in
                if case .text(let name)? = row.first { name } else { nil }
            }
        }
    }
}

extension PostgreSQLStore {
    fileprivate func receive(
        _ number: UInt64, at day: Double, as uuid: String? = nil, to receivers: [String] = []
    ) async throws {
        let delivery = Sample.delivery(
            uuid ?? "n\(number)", Sample.facts(Int(number)), received: day, to: receivers)
        #expect(try await apply(delivery) == .applied)
    }

    /// Keeps payloads for 30 days, in partitions of a week.
    fileprivate func prune(at day: Double) async throws -> Int? {
        try await prunePartitions(receivedBefore: Sample.day(day - 30), span: .days(7), at: Sample.day(day))?.dropped
    }

    fileprivate var payloads: [String] {
        get async throws {
            try await payloads(after: nil, limit: 1000).map(\.notification.notificationUUID.description)
        }
    }
}
