import Foundation
import OfferEligibility
import StoreTestSupport
import TestSupport
import Testing

@testable import OfferPostgreSQL
@testable import SubscriberStore

@Suite("Names and settings of a PostgreSQL database")
struct HostileServerTests {
    @Test("a URL may contain a password, and nothing shows it")
    func password() throws {
        for url in [
            "postgresql://offers:marked@db/offers", "postgresql://db/offers?password=marked",
            "postgres://u:marked@127.0.0.1:1/x?user=v", "POSTGRES://u:mar%40marked%2F@127.0.0.1:1/x",
            "PostgreSQL://u:m?marked@127.0.0.1:1/x", "postgresql://127.0.0.1:1/x?user=u&password=m@marked",
            "postgresql://127.0.0.1:1/x?sslpassword=marked", "postgresql://u:m:marked#@127.0.0.1:1/x",
        ] {
            let location = try #require(StoreLocation(url))
            #expect(location.containsPassword)
            #expect(throws: Never.self) { try location.check() }
            guard case .postgreSQL(let normal) = location else { continue }
            let failure = #expect(throws: StoreError.self) { _ = try location.open() }
            var dumped = ""
            dump(location, to: &dumped)
            dump(PostgreSQLSettings(url: normal), to: &dumped)
            dump(try PostgreSQLServer(url: normal), to: &dumped)
            let shown =
                "\(location) \(String(reflecting: location)) \(failure?.diagnostic as Any) \(failure as Any) \(dumped)"
            #expect(!shown.contains("marked"), "\(shown)")
        }
        for url in [
            "postgresql://offers@db/offers", "postgresql://db/offers?passfile=/run/pgpass", "postgresql:///x?service=s",
        ] { #expect(StoreLocation(url)?.containsPassword == false) }
    }

    @Test(
        "a password that libpq would take for something else is refused, and not shown",
        arguments: [
            "postgresql://u:mar/marked@db/offers", "postgresql://u:1/marked@db/offers",
            "postgresql://u:mar@marked@db/offers", "postgresql://u:mar@marked?x@db/offers",
            "postgresql://u:marked%zz@db/offers", "postgresql://db/offers?password=a&marked",
            "postgresql://u:marked@db/offers?pgbouncer=true", "postgresql://u@db:marked/offers",
        ])
    func ambiguousPassword(url: String) throws {
        let location = try #require(StoreLocation(url))
        let error = #expect(throws: StoreError.self) { try location.check() }
        let failure = #expect(throws: StoreError.self) { _ = try location.open() }
        let shown = "\(error?.diagnostic as Any) \(failure as Any)"
        #expect(shown.contains("the URL is invalid") && !shown.contains("marked"), "\(shown)")
    }

    @Test("a connection string that is no URL names no database, so nothing takes it for one")
    func connectionString() {
        for text in [
            "host=db user=offers password=marked", "postgresql+asyncpg://u:p@db/x", "jdbc:postgresql://db/x",
            "postgresql:x",
        ] { #expect(StoreLocation(text) == nil, "\(text)") }
    }

    @Test("the password in the URL is the one that the server gets")
    func rightPassword() async throws {
        let server = try TestPostgreSQL()
        let password = #"p@ss/w:r?d%#"#
        try server.execute("CREATE ROLE guarded LOGIN PASSWORD '\(password)'", in: "postgres")
        try server.execute("CREATE DATABASE guarded OWNER guarded", in: "postgres")
        try server.execute(
            """
            DO $$ BEGIN EXECUTE format('COPY (VALUES (''local all guarded scram-sha-256''), (''local all all trust'')) TO %L', \
            current_setting('hba_file')); END $$
            """, in: "postgres")
        try server.stop()
        try server.start()
        func location(_ password: String, in settings: Bool = false) throws -> StoreLocation {
            let encoded = password.utf8.map { String(format: "%%%02x", $0) }.joined()
            let url = server.url(of: "guarded")
            let changed =
                settings
                ? url.replacing("offers@", with: "guarded@") + "&password=\(encoded)"
                : url.replacing("postgresql://offers@", with: "POSTGRES://guarded:\(encoded)@")
            return try #require(StoreLocation(changed))
        }
        let wrong = #expect(throws: StoreError.self) { _ = try location("marked").open() }
        #expect(wrong?.kind == .unreachable && wrong?.detail.contains("marked") == false, "\(wrong as Any)")
        for inSettings in [false, true] {
            let store = try location(password, in: inSettings).open()
            _ = try await store.apply(Sample.delivery("n1", Sample.facts(1)))
            #expect(try await store.intakes().count == 1)
            try store.close()
        }
    }

    @Test("beyond this machine, the server must prove who it is, unless the URL says otherwise")
    func tls() throws {
        func sslmode(_ url: String) throws -> String? {
            try PostgreSQLServer(url: url).settings.last { $0.name == "sslmode" }?.value
        }
        #expect(try sslmode("postgresql://db.example/offers") == "verify-full")
        #expect(try sslmode("postgresql://localhost,db.example/offers") == "verify-full")
        #expect(try sslmode("postgresql:///offers?host=db.example") == "verify-full")
        #expect(try sslmode("postgresql:///offers?service=offers") == "verify-full")
        #expect(try sslmode("postgresql://db.example/offers?hostaddr=10.0.0.1") == "verify-full")
        #expect(try sslmode("postgresql://127.0.0.1/offers?hostaddr=192.0.2.1") == "verify-full")
        #expect(try sslmode("postgresql://127.0.0.1,[::1]/offers") == nil)
        #expect(try sslmode("postgresql:///offers?host=/run/postgresql") == nil)
        #expect(try sslmode("postgresql://db.example/offers?sslmode=verify-ca") == nil)
    }

    @Test("a URL that libpq cannot read is refused", arguments: ["postgresql://%zz", "postgresql://h/x?nonsense=1"])
    func invalid(url: String) {
        #expect(throws: PostgreSQLError.self) { try PostgreSQLServer(url: url) }
    }

    @Test("a database with a hostile name is a database")
    func name() async throws {
        let server = try TestPostgreSQL.shared.get()
        let name = #"x'"; DROP SCHEMA offer_signer; --"#
        try server.execute(#"CREATE DATABASE "x'""; DROP SCHEMA offer_signer; --""#, in: "postgres")
        let escaped = name.utf8.map { String(format: "%%%02x", $0) }.joined()
        let store = try PostgreSQLStore(PostgreSQLSettings(url: server.url(of: escaped)))
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        #expect(try await store.intakes().count == 1)
        try store.close()
    }

    @Test("no search path, function or setting of a role changes what statements mean")
    func searchPath() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        try database.execute(
            """
            CREATE SCHEMA evil;
            CREATE TABLE evil.fact (LIKE pg_catalog.pg_class);
            CREATE FUNCTION evil.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE sql AS 'SELECT 1/0';
            CREATE FUNCTION evil.coalesce_(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0';
            CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
            """)
        try database.execute(
            "DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET search_path = evil, pg_catalog'', current_database()); "
                + "EXECUTE format(''ALTER DATABASE %I SET default_transaction_isolation = serializable'', current_database()); "
                + "EXECUTE format(''ALTER DATABASE %I SET synchronous_commit = off'', current_database()); "
                + "EXECUTE format(''ALTER DATABASE %I SET bytea_output = escape'', current_database()); END'")
        let store = try database.open()
        defer { try? store.close() }
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        #expect(try await store.customer(Sample.account(1))?.facts.count == 3)
        #expect(try await store.claim(.pruning, for: .seconds(60)))
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.fact") == [3])
    }

    @Test("a change is durable although the role or the database says otherwise")
    func synchronousCommit() throws {
        let database = try PostgreSQLDatabaseOfTest()
        try database.execute(
            "DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET synchronous_commit = off'', current_database()); END'")
        let connection = try PostgreSQLConnection.open(PostgreSQLServer(url: database.url))
        #expect(try connection.executeOnce("SHOW synchronous_commit").rows == [[.text("on")]])
        #expect(try connection.executeOnce("SHOW search_path").rows == [[.text("offer_signer")]])
    }

    @Test("text that is hostile to statements is stored as it is")
    func values() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        let texts = [#"'; DROP TABLE fact; --"#, #"\'; \\"#, "$1 ? ?1", "ü€ '", "%s%n"]
        for text in texts {
            let body = "\(text)"
            #expect(
                try await store.apply(Sample.delivery(text, Sample.facts(1), body: body, to: [text])) == .applied)
            let username = CustomerIdentifier.applicationUsername(Sample.text(text))
            try await store.setTeamFacts(
                [Sample.text(text): .text(Array(text.utf8))], of: username, in: Sample.production, at: Sample.day(0))
            let customer = try #require(try await store.customer(username))
            #expect(customer.teamFacts.map(\.name) == [Sample.text(text)])
            #expect(customer.teamFacts.map(\.value) == [.text(Array(text.utf8))])
        }
        let payloads = try await store.payloads(after: nil, limit: 99)
        #expect(payloads.map { String(decoding: $0.body, as: UTF8.self) } == texts)
        #expect(Set(try await store.receivers().map(\.url)) == Set(texts))
    }
}
