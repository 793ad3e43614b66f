import Foundation
import OfferCore
import OfferEligibility
import OfferPostgreSQL
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// What several processes do with one database at the same time. Each store is one of them.
@Suite("Processes that share a PostgreSQL database")
struct SharingTests {
    @Test("a notification that reaches all of them is stored once")
    func once() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let stores = try database.open(3)
        defer { for store in stores { try? store.close() } }
        let outcomes = try await withThrowingTaskGroup(of: DeliveryOutcome.self) { group in
            for number in 0..<120 {
                let store = stores[number % 3]
                group.addTask {
                    try await store.apply(
                        Sample.delivery("n\(number / 6)", Sample.facts(number / 6), to: ["https://a.example"]))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .applied } == 20)
        #expect(try await stores[0].intakes().map { [$0.notifications, $0.subscriptions] } == [[20, 20]])
        #expect(try await stores[1].receivers().map(\.pending) == [20])
    }

    @Test("facts about the same subscriptions end in the same state, whichever process merges them")
    func merging() async throws {
        let (database, alone) = (try PostgreSQLDatabaseOfTest(), try PostgreSQLDatabaseOfTest())
        let (stores, single) = (try database.open(3), try alone.open())
        defer { for store in stores + [single] { try? store.close() } }
        let facts = (0..<30).flatMap { number in
            (1...4).flatMap { signed in Sample.facts(number % 5, account: UInt64(number % 3), signed: Double(signed)) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, fact) in facts.shuffled().enumerated() {
                let store = stores[number % 3]
                group.addTask { try await store.merge([fact], in: Sample.production) }
            }
            try await group.waitForAll()
        }
        for fact in facts { try await single.merge([fact], in: Sample.production) }
        #expect(try await stores[0].records() == single.records())
    }

    @Test("a change that another transaction disturbs is made again, and counted")
    func repeated() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let store = try database.open()
        defer { try? store.close() }
        _ = try await store.apply(Sample.delivery("n1", Sample.facts(1)))
        #expect(store.counts.retries == 0)
        // Another program takes no locks of ours.
        let other = try database.connect()
        try other.run(
            """
            BEGIN;
            INSERT INTO offer_signer.subscription (app, original_transaction_id)
            SELECT id, '2000000100000002' FROM offer_signer.app
            """)
        async let outcome = store.apply(Sample.delivery("n2", Sample.facts(2)))
        // The change gives up after five seconds. On a thread of its own, a busy test does not look too late.
        try await onOwnThread {
            while try database.numbers(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """) != [1]
            { Thread.sleep(forTimeInterval: 0.02) }
        }
        try other.run("COMMIT")
        #expect(try await outcome == .applied)
        #expect(store.counts.retries == 1)
        #expect(try await store.customer(Sample.account(2))?.facts.count == 3)
    }

    @Test("of 300 customers who ask all of them, 50 get one of 50, and never one too many")
    func total() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let stores = try database.open(3)
        defer { for store in stores { try? store.close() } }
        let reserved = try await race(300, OfferLimits(total: 50), stores) { Sample.account(UInt64($0)) }
        #expect(reserved == 50)
        #expect(try database.numbers("SELECT count(*) FROM offer_signer.authorisation WHERE state = 1") == [50])
    }

    @Test("of 100 requests of one customer, one gets the only offer")
    func perCustomer() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let stores = try database.open(3)
        defer { for store in stores { try? store.close() } }
        let limits = OfferLimits(perCustomer: .init(count: 1))
        #expect(try await race(100, limits, stores) { _ in Sample.account(1) } == 1)
    }

    /// Has each request ask one of the stores, all at once.
    /// - Returns: how many got a reservation.
    private func race(
        _ count: Int, _ limits: OfferLimits, _ stores: [PostgreSQLStore],
        _ customer: @Sendable (Int) -> CustomerIdentifier
    ) async throws -> Int {
        let product = try ProductID(utf8: Array("monthly".utf8))
        let id = try OfferID(utf8: Array("half".utf8))
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                let offer = LedgerRequest.Offer(
                    productID: product, offerID: id, limits: limits,
                    nonces: [Sample.nonce(UInt64(number))], expiresAt: Sample.day(1))
                let request = LedgerRequest(
                    app: Sample.production, holders: [customer(number)], offers: [offer], reserving: .all,
                    at: Sample.day(0))
                let store = stores[number % stores.count]
                group.addTask { try await store.reserve(request) == [.reserved] }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    @Test("one of them has a piece of work, until it gives it back or no longer keeps it")
    func leases() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let stores = try database.open(2)
        defer { for store in stores { try? store.close() } }
        let (work, other) = (SharedWork.polling(Sample.production), SharedWork.polling(Sample.sandbox))
        #expect(try await stores[0].claim(work, for: .seconds(3600)))
        #expect(try await stores[0].claim(work, for: .seconds(3600)), "it keeps it")
        #expect(try await !stores[1].claim(work, for: .seconds(3600)))
        #expect(try await stores[1].claim(other, for: .seconds(3600)), "another app's work is other work")
        try await stores[1].release(work)
        #expect(try await !stores[1].claim(work, for: .seconds(3600)), "only the holder gives it back")
        try await stores[0].release(work)
        #expect(try await stores[1].claim(work, for: .zero))
        #expect(try await stores[0].claim(work, for: .seconds(3600)), "the lease was over")
    }

    @Test("a claim of forwards and of subscriptions goes to one of them")
    func claims() async throws {
        let database = try PostgreSQLDatabaseOfTest()
        let stores = try database.open(3)
        defer { for store in stores { try? store.close() } }
        for number in 0..<60 {
            _ = try await stores[0].apply(
                Sample.delivery("n\(number)", Sample.facts(number), to: ["https://a.example"]))
        }
        let claimed = try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<12 {
                let store = stores[number % 3]
                group.addTask {
                    let forwards = try await store.claimForwards(
                        to: "https://a.example", dueAt: Sample.day(1), leaseEnd: Sample.day(2), limit: 10)
                    let due = try await store.claimDueSubscriptions(
                        of: Sample.production, dueBefore: Sample.day(50), nextDueAt: Sample.day(60), limit: 10)
                    return forwards.map(\.contentID)
                        + due.map { "\($0.originalTransactionID.text)" }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == 120 && Set(claimed).count == 120)
    }
}
