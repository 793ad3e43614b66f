import OfferEligibility
import OfferPostgreSQL
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store in PostgreSQL when something fails", .serialized)
struct PostgreSQLFailureTests {
    @Test("connections that the server ends disturb nobody")
    func brokenConnections() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        for number in 0..<10 {
            _ = try await store.apply(Sample.delivery("n\(number)", Sample.facts(number)))
            #expect(try await store.customer(Sample.account(UInt64(number))) != nil)
            try database.breakConnections()
        }
        #expect(try await store.intakes().first?.notifications == 10)
    }

    @Test("a COMMIT whose answer is lost is made once, and reported as made")
    func lostAnswer() async throws {
        let failing = try await FailingServer()
        let store = try failing.open()
        _ = try await store.apply(Sample.delivery("n0", Sample.facts(0)))
        failing.proxy.mode = .cuttingAfterCommit
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .known)
        #expect(failing.proxy.mode == .passing, "the proxy has cut a connection")
        failing.proxy.mode = .cuttingAfterCommit
        try await store.merge(Sample.facts(2), in: Sample.production)
        #expect(failing.proxy.mode == .passing)
        failing.proxy.mode = .cuttingAfterCommit
        #expect(try await store.reserve(Self.request(1)) == [.reserved])
        #expect(failing.proxy.mode == .passing)
        #expect(
            try failing.database.numbers("SELECT count(*) FROM offer_signer.authorisation WHERE state = 1") == [1])
        #expect(
            try await store.reserve(Self.request(2)) != [.reserved], "the only place is taken")
        #expect(try await store.intakes().map { [$0.notifications, $0.subscriptions] } == [[2, 3]])
        try store.close()
        try await failing.end()
    }

    private static func request(_ nonce: UInt64) -> LedgerRequest {
        Sample.request([Sample.offer(nonces: [nonce], expiresAt: 1)], at: 0)
    }

    @Test("while the server is down, changes and reads fail at once, and when it is back they succeed")
    func restart() async throws {
        let server = try TestPostgreSQL()
        let database = try PostgreSQLDatabaseOfTest(server)
        let store = try database.open()
        defer { try? store.close() }
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        for stop in [server.stop, server.crash] {
            try stop()
            // The connections are known to be broken only when they are used.
            for _ in 0..<4 {
                let failure = await failure { () async throws(StoreError) in
                    _ = try await store.apply(Sample.delivery("n2", Sample.facts(2)))
                }
                #expect(failure?.kind == .unreachable && failure?.isRetryable == true)
            }
            let failure = await failure { () async throws(StoreError) in _ = try await store.intakes() }
            #expect(failure?.kind == .unreachable)
            try server.start()
            try await waitUntil { (try? await store.probe()) != nil }
            #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .known)
        }
        #expect(try await store.apply(Sample.delivery("n2", Sample.facts(2))) == .applied)
        #expect(try await store.intakes().first?.notifications == 2)
    }

    @Test("a server that does not answer fails what waits for it, and nothing waits for ever")
    func silent() async throws {
        let failing = try await FailingServer()
        let store = try failing.open()
        _ = try await store.apply(Sample.delivery("n0", Sample.facts(0)))
        failing.proxy.mode = .silent
        let failures = await withTaskGroup(of: StoreError?.self) { group in
            for number in 1...20 {
                group.addTask { await Self.failureOfDelivery(number, to: store) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(failures.allSatisfy { $0?.isRetryable == true })
        failing.proxy.mode = .closed
        let failure = await failure { () async throws(StoreError) in _ = try await store.intakes() }
        #expect(failure?.isRetryable == true)
        failing.proxy.mode = .passing
        try await waitUntil { (try? await store.probe()) != nil }
        for number in 1...20 {
            // Another thread's connection may still have to be replaced.
            try await waitUntil { await Self.failureOfDelivery(number, to: store) == nil }
        }
        #expect(try await store.intakes().first?.notifications == 21)
        try store.close()
        try await failing.end()
    }

    private static func failureOfDelivery(_ number: Int, to store: PostgreSQLStore) async -> StoreError? {
        await failure { () async throws(StoreError) in
            _ = try await store.apply(Sample.delivery("n\(number)", Sample.facts(number)))
        }
    }

    @Test("a change that fails does not fail the others of its group")
    func savepoints() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try PostgreSQLStore(PostgreSQLSettings(url: database.url, writers: 1, readers: 1))
        defer { try? store.close() }
        _ = try await store.apply(Sample.delivery("first", Sample.facts(7)))
        try database.execute("UPDATE offer_signer.fact SET kind = 77 WHERE kind = 4")
        let applied = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let delivery = Sample.delivery("n\(number)", Sample.facts(number, signed: 1))
                    return (try? await store.apply(delivery)) == .applied
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(applied == 63)
        #expect(try await store.intakes().first?.notifications == 64)
        #expect(store.counts.changes == 64 && store.counts.commits < 64)
    }

    @Test("a server that is full of connections is busy, and the store goes on when there is room")
    func noConnections() async throws {
        let server = try TestPostgreSQL(["--fast", "--setting", "max_connections=8"])
        let database = try PostgreSQLDatabaseOfTest(server)
        let store = try database.open()
        defer { try? store.close() }
        var others = (0..<8).compactMap { _ in try? database.connect() }
        try #require(others.count >= 4)
        for number in 0..<4 {
            let failure = await Self.failureOfDelivery(number, to: store)
            #expect(failure == nil || failure?.isRetryable == true)
        }
        others.removeAll()
        try await waitUntil { (try? await store.apply(Sample.delivery("last", Sample.facts(9)))) != nil }
    }
}

/// A server behind a ``CuttingProxy``.
private struct FailingServer {
    let proxy: CuttingProxy
    let database: PostgreSQLDatabaseOfTest

    init() async throws {
        let port = try await FreePort.find()
        database = try PostgreSQLDatabaseOfTest(TestPostgreSQL(["--fast", "--port", "\(port)"]))
        proxy = try await CuttingProxy(to: port)
    }

    /// Opens a store that reaches the server through the proxy.
    func open() throws -> PostgreSQLStore {
        let name = try #require(database.url.split(separator: "?").first?.split(separator: "/").last)
        let url = "postgresql://offers@127.0.0.1:\(proxy.port)/\(name)"
        return try PostgreSQLStore(PostgreSQLSettings(url: url, writers: 2, readers: 1))
    }

    func end() async throws { try await proxy.close() }
}
