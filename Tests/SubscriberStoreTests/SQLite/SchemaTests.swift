import Foundation
import OfferCore
import OfferSQLite
import StoreTestSupport
import TestSupport
import Testing

@testable import SubscriberStore

@Suite("SQLite schema and settings")
struct SchemaTests {
    @Test("a database of each earlier version is migrated and works", arguments: 0..<Schema.latestVersion)
    func migrations(version: Int) async throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        try Schema.migrate(connection, to: version)
        if version > 0 {
            try connection.execute(
                """
                INSERT INTO app (bundle_id, environment) VALUES ('com.example.app', 'Production');
                INSERT INTO subscription (app, original_transaction_id) VALUES (1, '2000000100000001');
                """)
        }
        connection.close()
        let store = try database.open()
        #expect(try database.fetch("SELECT number FROM migration ORDER BY number") == Array(1...Schema.latestVersion))
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1), to: ["https://a.example"])) == .applied)
        #expect(try database.fetch("SELECT count(*) FROM subscription") == [1])
        #expect(try await store.check() == [])
    }

    @Test("a column that another process adds while a statement is in use, as in an upgrade, is read under its name")
    func addedColumn() async throws {
        let database = try TestDatabase()
        try database.open().close()
        let (one, other) = (try database.connect(), try database.connect())
        try one.execute("INSERT INTO app (bundle_id, environment) VALUES ('com.example.app', 'Production')")
        let tables = SQLiteDatabase(connection: one)
        let sql = "SELECT app.*, 7 AS last FROM app"
        let before = try tables.rows(sql, [])
        try other.execute("ALTER TABLE app ADD COLUMN later INTEGER DEFAULT 5")
        let after = try tables.rows(sql, [])
        #expect(before.count == 1 && after.count == 1)
        #expect(try after[0]["last"] as Int == 7 && after[0]["later"] as Int == 5)
        #expect(try before[0]["last"] as Int == 7)
    }

    @Test("every commit is synced, and foreign keys hold")
    func pragmas() async throws {
        let store = try TestDatabase().open()
        let values = try store.pool.write { db in
            try ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"].map { name in
                try db.texts("PRAGMA \(name)").first
            }
        }
        #expect(values == ["wal", "2", "1", "50"])
    }

    @Test("only the owner can read the files")
    func modes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/data/store.sqlite"
        let store = try SQLiteStore(SQLiteSettings(path: path))
        _ = try await store.apply(Sample.delivery("n1", Sample.facts(1)))
        try await store.backUp(to: folder.path + "/data/backup.sqlite") { _ in }
        #expect(try mode(folder.path + "/data") == 0o700)
        for file in [path, path + "-wal", path + "-shm", folder.path + "/data/backup.sqlite"] {
            #expect(try mode(file) == 0o600, "\(file)")
        }
        try store.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try SQLiteStore(SQLiteSettings(path: path)).close()
        #expect(try mode(path) == 0o600)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("no statement of the service reads a whole table, or all rows of an app")
    func queryPlans() async throws {
        let database = try TestDatabase()
        // Migrations read what they change.
        try database.open().close()
        let statements = Lines()
        let store = try database.open { statements.add(Array($0.utf8)) }
        try await ServiceWork.run(store)
        let connection = try database.connect()
        // The plan does not depend on the values of the parameters, which are NULL here.
        let steps = try Set(statements.sorted.filter(Self.isPlanned)).flatMap { sql in
            let plan = try connection.prepare("EXPLAIN QUERY PLAN \(sql)")
            var steps: [String] = []
            while try plan.step() { steps.append("\(plan.text(at: 3)): \(sql)") }
            return steps
        }
        #expect(statements.all.count > 200)
        let scans = steps.filter { $0.hasPrefix("SCAN") }
        // These tables have a row for each app, for each receiver, and for each offer. The others are the results of limited searches.
        let wholeTables = [
            "SCAN app USING", "SCAN app:", "SCAN receiver", "SCAN CONSTANT ROW", "SCAN due", "SCAN lasting",
            "SCAN consumable",
            "SCAN linked", "SCAN newest", "SCAN redemption_count",
        ]
        #expect(scans.filter { scan in !wholeTables.contains { scan.hasPrefix($0) } } == [])
        // An app may have millions of rows in every other table.
        let ofApps = steps.filter { $0.contains("(app=?):") }
        let small = [
            "app_count", "link_count", "link_visit", "ledger_app", "ledger_offer", "ledger_exemption", "offer",
        ]
        #expect(ofApps.filter { step in !small.contains { step.hasPrefix("SEARCH \($0) ") } } == [])
        // An offer may have as many redemptions. Caps read a counter, and the alarm looks at those of few offers.
        let ofOffers = steps.filter { $0.contains("redemption_offer (") }
        #expect(ofOffers.filter { !$0.contains("acknowledged_at IS NULL") } == [])
        #expect(steps.contains { $0.hasPrefix("SEARCH redemption_count USING PRIMARY KEY (app=? AND offer_id=? AND") })
    }

    @Test("the migration counts the redemptions of an older version, and a check compares the counter with the rows")
    func counter() async throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        let older = try #require(Schema.migrations.firstIndex { $0.name == Migration.redemptions.name })
        try Schema.migrate(connection, to: older)
        try connection.execute("INSERT INTO app (bundle_id, environment) VALUES ('com.example.app', 'Production')")
        for offer in ["other", "half", "half"] {
            try connection.execute(
                """
                INSERT INTO redemption (app, product_id, offer_id, ordinal, at, first_at)
                VALUES (1, 'monthly', '\(offer)', 0, 0, 0)
                """)
        }
        let store = try database.open()
        defer { try? store.close() }
        #expect(try database.fetch("SELECT count FROM redemption_count ORDER BY offer_id") == [2, 1])
        #expect(try await store.check() == [])
        try connection.execute("UPDATE redemption_count SET count = 7 WHERE offer_id = 'half'")
        #expect(try await store.check() == ["the offer half of monthly has 2 redemptions, but its counter says 7"])
        connection.close()
    }

    @Test("the migration counts by day what an older version has, and a check compares the counters with the rows")
    func days() async throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        let older = try #require(Schema.migrations.firstIndex { $0.name == Migration.offerDays.name })
        try Schema.migrate(connection, to: older)
        try connection.execute(
            """
            INSERT INTO app (bundle_id, environment) VALUES ('com.example.app', 'Production');
            INSERT INTO authorisation (app, nonce, product_id, offer_id, state, at, expires_at, slot)
            VALUES (1, 'a', 'monthly', 'half', 1, 86400000, 0, 1), (1, 'b', 'monthly', 'half', 2, 172799999, 0, 2),
                (1, 'c', 'monthly', 'half', 3, 86400000, 0, 3), (1, 'd', 'monthly', 'half', 1, 172800000, 0, 4);
            INSERT INTO redemption (app, product_id, offer_id, ordinal, at, first_at)
            VALUES (1, 'monthly', 'half', 0, 86400000, 0);
            INSERT INTO exposure (app, kind, value, product_id, offer_id, sample, arm, channel, rules_digest, at)
            VALUES (1, 1, X'01', 'monthly', 'half', '', 1, 1, X'', 86400000),
                (1, 1, X'02', 'monthly', 'half', '', 2, 1, X'', 86400000);
            """)
        let store = try database.open()
        defer { try? store.close() }
        #expect(try database.fetch("SELECT count FROM offer_day ORDER BY day, kind") == [2, 1, 1, 1, 1])
        #expect(try await store.check() == [])
        try connection.execute("UPDATE offer_day SET count = 7 WHERE kind = 1 AND day = 2")
        let found = "the offer half of monthly has 1 signatures on a day, but the counter of the day says 7"
        #expect(try await store.check() == [found])
        connection.close()
    }

    private static func isPlanned(_ sql: String) -> Bool {
        ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) } && !sql.contains("sqlite_")
    }

    @Test("opening a database reads no table")
    func opening() throws {
        let database = try TestDatabase()
        try database.open().close()
        let statements = Lines()
        try database.open { statements.add(Array($0.utf8)) }.close()
        let allowed = ["migration", "PRAGMA", "sqlite_", "BEGIN", "COMMIT"]
        #expect(statements.sorted.filter { sql in !allowed.contains { sql.contains($0) } } == [])
    }

    @Test("the version of a database in use is read through a link, although only the log contains it")
    func versionThroughLink() throws {
        let database = try TestDatabase()
        let store = try database.open()
        let link = database.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: database.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let location = StoreLocation.sqlite(path: link)
        #expect(try location.inspect() == .exists(version: location.latestVersion))
        withExtendedLifetime(store) {}
    }

    @Test("an erased customer cannot be read from the file")
    func erasedBytes() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 0..<50 {
            _ = try await store.apply(Sample.delivery("n\(number)", Sample.facts(number), body: "marked-\(number)!"))
        }
        let marks = ["marked-7!", Sample.token(7).description, "2000000100000007"]
        _ = try await store.erase(Sample.account(7), in: Sample.production)
        try store.pool.write { try $0.truncateLog(waitingForReaders: 0) }
        let bytes = try Data(contentsOf: URL(filePath: database.path))
        for mark in marks { #expect(bytes.range(of: Data(mark.utf8)) == nil, "\(mark)") }
        #expect(bytes.range(of: Data("marked-8!".utf8)) != nil)
    }
}
