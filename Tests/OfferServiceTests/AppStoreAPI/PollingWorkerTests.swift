import AppStoreStandIn
import AppStoreTestSupport
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferConfiguration
@testable import OfferService

@Suite("The poller", .timeLimit(.minutes(30)))
struct PollingWorkerTests {
    private static let app = Sample.production

    /// A service that has heard nothing but that some subscriptions ended two hours ago.
    /// - Parameters:
    ///   - strangers: how many of them the App Store does not know.
    ///   - days: for how long customers have lived.
    private func service(strangers: Int = 0, days: Int = 1) async throws -> SimulatedService {
        let service = try await SimulatedService(customers: 10, posting: Poster.Settings())
        try service.start()
        for poster in service.standIn.posters { poster.set(Poster.Settings()) }
        for _ in 0..<(4 * days) { await service.pass(21_600, recovers: false) }
        let known = service.standIn.production.subscriptions.joined().prefix(3)
        let unknown = (0..<strangers).map { "49999999999999\($0)" }
        try await service.withStore { store in
            try await store.merge(
                (known + unknown).map { try Self.ended($0, at: service.now - .hours(2)) }, in: Self.app)
        }
        return service
    }

    private static func ended(_ original: String, at end: Timestamp) throws -> SubscriberFact {
        var purchase = Purchase(
            productID: try ProductID(utf8: Array("monthly".utf8)), purchaseDate: end - .days(30))
        purchase.type = .autoRenewableSubscription
        purchase.expiresDate = end
        return SubscriberFact(
            .transaction(purchase), transactionID: Sample.id(original), originalTransactionID: Sample.id(original),
            signedDate: end - .days(30), digest: Sample.digest(Array(original.utf8)))
    }

    private func questions(_ service: SimulatedService) -> Int {
        service.standIn.statistics.requests("subscription_statuses")
    }

    @Test("asks once about what is due")
    func once() async throws {
        let service = try await service()
        #expect(await service.poll(Self.app) == 3)
        service.wait(.hours(1))
        _ = await service.poll(Self.app)
        #expect(questions(service) <= 4)
        try await service.end()
    }

    @Test("takes nothing while no question about the app can be answered, and asks soon after")
    func refusedToken() async throws {
        let service = try await service()
        let asked = questions(service)
        service.standIn.tokens.replace(keys: [:])
        for _ in 0..<20 {
            #expect(await service.poll(Self.app) == 0)
            service.wait(.seconds(30))
        }
        #expect(questions(service) - asked < 80, "twice for each of three subscriptions, and less and less often")
        #expect(service.problems.count == 1)
        service.standIn.tokens.replace(keys: [try Fixtures.keyID().description: service.pair])
        service.wait(.seconds(300))
        #expect(await service.poll(Self.app) == 3)
        #expect(service.problems.isEmpty)
        try await service.end()
    }

    @Test("waits for the end of a limit, which is no problem")
    func limited() async throws {
        let service = try await service()
        service.standIn.faults.add(.limited(600_000), count: 3)
        #expect(await service.poll(Self.app) == 0)
        let asked = questions(service)
        service.standIn.faults.clear()
        service.wait(.seconds(590))
        #expect(await service.poll(Self.app) == 0)
        #expect(questions(service) == asked && service.problems.isEmpty)
        service.wait(.seconds(20))
        #expect(await service.poll(Self.app) == 3)
        try await service.end()
    }

    @Test("asks again every five minutes at first, so that one failure does not free a slot, and then less often")
    func retries() async throws {
        let service = try await service()
        service.standIn.faults.add(.malformed, count: .max)
        var times: [Int] = []
        for minute in 0..<180 {
            let asked = questions(service)
            if await service.poll(Self.app) > 0 { times.append(minute) }
            #expect(questions(service) - asked <= 3)
            service.wait(.seconds(60))
        }
        #expect(times == [0, 5, 10, 15, 20, 30, 50, 90], "then the answers are given up")
        #expect(service.problems.count == 1)
        // Nothing is due, so the problem is forgotten.
        service.wait(.hours(1))
        _ = await service.poll(Self.app)
        #expect(service.problems.isEmpty)
        try await service.end()
    }

    @Test(
        "gives up what the App Store does not know or will not tell",
        arguments: [Int64?.none, 4_040_001, 4_000_006, 4_040_005, 4_040_010, 4_000_000])
    func lasting(code: Int64?) async throws {
        let service = try await service(strangers: code == nil ? 2 : 0)
        if let code { service.standIn.faults.add(.error(code), count: .max) }
        #expect(await service.poll(Self.app) == (code == nil ? 5 : 3))
        let asked = questions(service)
        for _ in 0..<10 {
            service.wait(.seconds(3600))
            if code == nil { break }
            #expect(await service.poll(Self.app) == 0)
        }
        #expect(questions(service) == asked && service.problems.isEmpty)
        try await service.end()
    }

    @Test("gives up a subscription that is missing from the answer about it")
    func missing() async throws {
        let service = try await service(days: 45)
        // A renewal's identifier leads to the same customer, and is no original transaction ID.
        let histories = service.standIn.production.truth(at: service.now.milliseconds)
        let renewed = try #require(histories.first { $0.key != $0.value.transactionID })
        #expect(await service.poll(Self.app) == 3)
        try await service.withStore { store in
            try await store.merge(
                [try Self.ended(renewed.value.transactionID, at: service.now - .hours(2))], in: Self.app)
        }
        #expect(await service.poll(Self.app) == 1)
        let asked = questions(service)
        service.wait(.seconds(400))
        #expect(await service.poll(Self.app) == 0 && questions(service) == asked)
        try await service.end()
    }
}

@Suite("The recovery checkpoint", .timeLimit(.minutes(30)))
struct RecoveryCheckpointTests {
    private static let app = Sample.production

    private func service() async throws -> SimulatedService {
        let service = try await SimulatedService(customers: 10, posting: Poster.Settings())
        for _ in 0..<24 { await service.pass(3600) }
        try service.start()
        return service
    }

    private func checkpoint(_ service: SimulatedService) async throws -> Timestamp? {
        try await service.withStore { try await $0.recoveryCheckpoint(of: Self.app) }
    }

    @Test("does not move past a gap that a run leaves out")
    func gap() async throws {
        let service = try await service()
        try await service.recover(Self.app, since: service.now - .days(1))
        #expect(try await checkpoint(service) == nil, "nothing before was ever read")
        let old = service.now - .days(10)
        try await service.withStore {
            try await $0.setRecoveryCheckpoint(old, since: old, continuing: false, of: Self.app, at: service.now)
        }
        try await service.recover(Self.app, since: service.now - .days(1))
        #expect(try await checkpoint(service) == old)
        try await service.recover(Self.app, since: service.now - .days(11))
        #expect(try await checkpoint(service) == service.now)
        try await service.end()
    }

    @Test("moves when a run begins as early as the App Store goes")
    func everything() async throws {
        let service = try await service()
        try await service.recover(Self.app, since: .min)
        #expect(try await checkpoint(service) == service.now)
        try await service.end()
    }

    @Test("begins the span of known notifications with the first run, and goes on with each later one")
    func span() async throws {
        let service = try await service()
        let original = "499999999999990"
        try await service.withStore { store in
            let fact = Sample.transaction(original, of: original)
            try await store.merge([fact], in: Self.app)
        }
        func coverage() async throws -> HistoryEvidence.Coverage? {
            try await service.withStore { store in
                try await store.customers(
                    known: .originalTransactionID(Sample.id(original)), bundleID: Self.app.bundleID,
                    environment: .production
                ).first?.coverage
            }
        }
        let first = service.now
        await service.recover(Self.app)
        #expect(try await coverage() == HistoryEvidence.Coverage(since: first, until: first, changesSince: first))
        await service.pass(7200)
        await service.recover(Self.app)
        #expect(try await coverage() == HistoryEvidence.Coverage(since: first, until: service.now, changesSince: first))
        try await service.end()
    }

    @Test("is corrected when a clock was ahead, and does not stop the service from reading")
    func future() async throws {
        let service = try await service()
        let future = service.now + .days(3)
        try await service.withStore {
            try await $0.setRecoveryCheckpoint(future, since: future, continuing: false, of: Self.app, at: future)
        }
        await service.recover(Self.app)
        #expect(try await checkpoint(service) == service.now)
        #expect(service.standIn.statistics.requests("notification_history") > 0)
        try await service.end()
    }

    @Test("notifications of another app in the history are refused, and read when they are ours")
    func anotherApp() async throws {
        let service = try await service()
        service.standIn.faults.add(.anotherApp, count: .max, endpoint: "notification_history")
        try await service.recover(Self.app, since: service.now - .days(30))
        let stored = try await service.withStore { try await $0.intakes() }
        #expect(stored.isEmpty)
        service.standIn.faults.clear()
        try await service.recover(Self.app, since: service.now - .days(30))
        let now = try await service.withStore { try await $0.intakes() }
        #expect(now.map(\.notifications) == [service.standIn.production.notificationCount])
        try await service.end()
    }
}
