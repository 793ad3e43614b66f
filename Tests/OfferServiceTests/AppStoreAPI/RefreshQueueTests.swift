import AppStoreAPI
import AppStoreStandIn
import AppStoreTestSupport
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

@Suite("Questions about customers while a request waits", .timeLimit(.minutes(30)))
struct RefreshQueueTests {
    private static let app = Sample.production

    private func withRefresher(
        wait: Duration, _ body: (RefreshQueue, RefreshRequest, SimulatedService) async throws -> Void
    ) async throws {
        let service = try await SimulatedService(customers: 5, posting: Poster.Settings())
        for _ in 0..<24 { await service.pass(3600) }
        try service.start(wait: wait, isFast: false)
        let refresher = try #require(service.refresher)
        let task = Task { try await refresher.run() }
        let original = try #require(service.standIn.production.subscriptions.joined().first)
        let request = try #require(RefreshRequest(Sample.id(original), in: Self.app))
        try await body(refresher, request, service)
        task.cancel()
        _ = await task.result
        try await service.end()
    }

    @Test("after a notification of version 1 about auto-renew, and no other, the App Store is queried")
    func legacyNotification() async throws {
        try await withRefresher(wait: .seconds(60)) { refresher, request, service in
            let secret = "0123456789abcdef0123456789abcdef"
            let intake = try StoreService.notifications(sharedSecret: secret, refresher: refresher)
            let other = try #require(service.standIn.production.subscriptions.joined().dropFirst().first)
            func notify(_ type: String, about original: String) async -> HTTPResponse {
                await intake.notify(
                    #"{"notification_type":"\#(type)","password":"\#(secret)","environment":"PROD","bid":"com.example.app","#
                        + #""auto_renew_status":"false","original_transaction_id":"\#(original)"}"#)
            }
            let before = requests(service)
            #expect(await notify("DID_RENEW", about: other).status == 200)
            #expect(await notify("DID_CHANGE_RENEWAL_STATUS", about: "\(request.key.id.text)").status == 200)
            for _ in 0..<3000 where try await !isKnown(request, service) {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await isKnown(request, service))
            #expect(requests(service) == before + 1, "nothing is asked about the other subscription")
        }
    }

    private func requests(_ service: SimulatedService) -> Int {
        service.standIn.statistics.requests("subscription_statuses")
    }

    private func isKnown(_ request: RefreshRequest, _ service: SimulatedService) async throws -> Bool {
        let id = Sample.id(request.key.id.text)
        return try await service.withStore { store in
            let customers = try await store.customers(
                known: .transactionID(id), bundleID: Self.app.bundleID, environment: nil)
            return !customers.isEmpty
        }
    }

    @Test("requests about one customer at the same moment share one request, and all learn the answer")
    func sharing() async throws {
        try await withRefresher(wait: .seconds(60)) { refresher, request, service in
            service.standIn.faults.add(.delay(200), endpoint: "subscription_statuses")
            let outcomes = await withTaskGroup(of: RefreshQueue.Outcome.self) { group in
                for _ in 0..<5 { group.addTask { await refresher.refresh([request]) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes == Array(repeating: .answered(hasNews: true), count: 5))
            #expect(requests(service) == 1)
            let isKnown = try await isKnown(request, service)
            #expect(isKnown)
        }
    }

    @Test("a request that stops waiting is told so, and a later one finds the answer")
    func timeout() async throws {
        try await withRefresher(wait: .milliseconds(50)) { refresher, request, service in
            service.standIn.faults.add(.delay(500), endpoint: "subscription_statuses")
            #expect(await refresher.refresh([request]) == .unanswered)
            while await refresher.refresh([request]) != .answered(hasNews: false) {
                try await Task.sleep(for: .milliseconds(20))
            }
            let isKnown = try await isKnown(request, service)
            #expect(isKnown)
            #expect(requests(service) == 1)
        }
    }

    @Test("a failure is no answer, also not for those who come within the minute after it")
    func failure() async throws {
        try await withRefresher(wait: .seconds(60)) { refresher, request, service in
            service.standIn.faults.add(.malformed, count: .max)
            for _ in 0..<3 { #expect(await refresher.refresh([request]) == .unanswered) }
            #expect(requests(service) == 1)
        }
    }

    @Test("that a customer is unknown is an answer, and no request needs none")
    func unknown() async throws {
        try await withRefresher(wait: .seconds(60)) { refresher, request, service in
            #expect(await refresher.refresh([]) == .notNeeded)
            let stranger = try #require(RefreshRequest(Sample.id("499999999999999"), in: Self.app))
            #expect(await refresher.refresh([stranger]) == .answered(hasNews: false))
            #expect(await refresher.refresh([stranger, request]) == .answered(hasNews: true))
            let both = await refresher.refresh([request, stranger]) { $0 != .unanswered }
            #expect(both == .answered(hasNews: false), "known since a moment ago, and the second was not needed")
            #expect(requests(service) == 2)
        }
    }

    @Test("data is stale when the App Store spoke last longer ago than the app accepts")
    func freshness() {
        let facts = [Sample.transaction("1", of: "1", signed: 5), Sample.transaction("2", of: "2", signed: 8)]
        let customer = StoredCustomer(
            app: Self.app, facts: facts, teamFacts: [], links: [], exposures: [], events: [],
            grants: [], isComplete: true)
        #expect(customer.staleSubscriptions(under: nil, at: Sample.day(999)).isEmpty)
        #expect(customer.staleSubscriptions(under: .days(1), at: Sample.day(6)).isEmpty)
        #expect(customer.staleSubscriptions(under: .days(1), at: Sample.day(9.01)) == [Sample.id("1"), Sample.id("2")])
    }
}
