import OfferCore
import OfferEligibility
import OfferPostgreSQL
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("The tables in PostgreSQL")
struct PostgreSQLSchemaTests {
    @Test("processes that start together make the tables once")
    func together() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        #expect(try database.location.inspect() == .absent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try database.open().close() } }
            try await group.waitForAll()
        }
        let latest = database.location.latestVersion
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.migration") == [Int64(latest)])
        #expect(try database.location.inspect() == .exists(version: latest))
    }

    @Test("a release goes on with the tables of the next one, and leaves alone those of a later one")
    func newer() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        try database.open().close()
        let latest = database.location.latestVersion
        try database.execute("INSERT INTO offer_signer.migration VALUES (\(latest + 1), 'next', now(), \(latest))")
        let store = try database.open()
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        try store.close()
        try database.location.open(.latestVersion).close()
        try database.execute("INSERT INTO offer_signer.migration VALUES (\(latest + 2), 'later', now(), \(latest + 1))")
        let error = #expect(throws: StoreError.self) { _ = try database.open() }
        #expect(error?.kind == .newerVersion(found: latest + 2, supported: latest) && error?.isRetryable == false)
    }

    @Test("a check reports a wrong counter of a day, and may count for longer than other statements")
    func wrongCounter() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        let exposure = Sample.exposure(of: Sample.account(1), .offered, sample: "s", at: 1)
        try await store.add([.exposure(Sample.production, exposure)])
        #expect(try await store.check() == [])
        try database.execute("UPDATE offer_signer.offer_day SET count = 7")
        let offer = try #require(exposure.offerID)
        #expect(
            try await store.check() == [
                "the offer \(offer.text) of \(exposure.productID.text) has 1 exposures on a day, but the counter of the day says 7"
            ])
        // A table that can be read only without a time limit.
        try database.execute(
            """
            ALTER TABLE offer_signer.link_count RENAME TO counted_links;
            CREATE FUNCTION offer_signer.requires_time() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
                IF current_setting('statement_timeout') <> '0' THEN RAISE EXCEPTION 'too slow'; END IF;
                RETURN true;
            END $$;
            CREATE VIEW offer_signer.link_count AS
            SELECT * FROM offer_signer.counted_links WHERE offer_signer.requires_time();
            INSERT INTO offer_signer.counted_links
            SELECT app, 'spring', 1, 0, 1, 0 FROM offer_signer.offer_day
            """)
        #expect(try await store.check().count == 2)
    }

    @Test("a column that a newer release adds disturbs nothing under way")
    func addedColumn() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        _ = try await store.apply(Sample.delivery("n1", Sample.facts(1), to: ["https://a.example"]))
        _ = try await store.customer(Sample.account(1))
        for table in ["app", "fact", "notification", "subscription", "forward", "team_fact", "link", "authorisation"] {
            try database.execute("ALTER TABLE offer_signer.\(table) ADD COLUMN added BIGINT")
        }
        #expect(try await store.apply(Sample.delivery("n2", Sample.facts(1, signed: 1))) == .applied)
        #expect(try await store.customer(Sample.account(1))?.facts.count == 3)
    }

    @Test("tables of another program are left alone")
    func foreign() throws {
        let database = try PostgreSQLDatabaseOfTest()
        try database.execute("CREATE SCHEMA offer_signer; CREATE TABLE offer_signer.other (id INT)")
        let error = #expect(throws: StoreError.self) { _ = try database.open() }
        #expect(error?.kind == .foreign)
        #expect(throws: StoreError.self) { try database.location.inspect() }
    }

    @Test("a role that may not create schemas works in one that exists")
    func narrowRole() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        try database.execute(
            "DO 'BEGIN CREATE ROLE narrow LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END'; "
                + "CREATE SCHEMA offer_signer AUTHORIZATION narrow")
        let url = database.url.replacing("offers@", with: "narrow@")
        let store = try PostgreSQLStore(PostgreSQLSettings(url: url))
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        try store.close()
    }

    @Test("a command that needs a database makes none")
    func commands() throws {
        let database = try PostgreSQLDatabaseOfTest()
        #expect(throws: StoreError.self) { _ = try database.location.open(.latestVersion) }
        #expect(try database.location.inspect() == .absent)
    }

    @Test("a backup is left to the server's tools, and a check finds an index that is not valid")
    func operation() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        let error = await #expect(throws: StoreError.self) { try await store.backUp(to: "/nowhere") { _ in } }
        #expect(error?.diagnostic.hint.contains("pg_dump") == true)
        #expect(try await store.check() == [])
        try database.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'offer_signer.forward_due'::regclass")
        #expect(try await store.check().first?.contains("forward_due") == true)
    }

    @Test(
        "the release before adds and deletes redemptions without a counter of its own, and a check finds a change by hand"
    )
    func counter() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        try database.execute(
            """
            INSERT INTO offer_signer.app (bundle_id, environment) VALUES ('com.example.app', 'Production');
            INSERT INTO offer_signer.redemption (app, product_id, offer_id, ordinal, at, first_at)
            SELECT 1, 'monthly', 'half', number, 0, 0 FROM generate_series(1, 5) AS number;
            DELETE FROM offer_signer.redemption WHERE ordinal = 2;
            UPDATE offer_signer.redemption SET at = 86400000 WHERE ordinal = 3
            """)
        let byDay = "SELECT CAST(sum(count) AS BIGINT) FROM offer_signer.offer_day GROUP BY day ORDER BY day"
        #expect(try database.numbers(byDay) == [3, 1])
        let count = "SELECT CAST(sum(count) AS BIGINT) FROM offer_signer.redemption_count"
        #expect(try database.numbers(count) == [4])
        #expect(try await store.check() == [])
        try database.execute("UPDATE offer_signer.redemption_count SET count = 7")
        #expect(try await store.check().first?.contains("has 4 redemptions, but its counter says") == true)
    }
}
