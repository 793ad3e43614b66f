import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

/// `WEEK_CUSTOMERS` asks for more customers, as `scripts/soak week` does.
@Suite("A week in which a fifth of the notifications is lost", .timeLimit(.minutes(600)))
struct WeekTests {
    private static let customers =
        ProcessInfo.processInfo.environment["WEEK_CUSTOMERS"].flatMap { Int($0) } ?? 60

    @Test("in the end the service knows of every customer what the App Store knows, and has asked seldom")
    func week() async throws {
        var posting = Poster.Settings()
        posting.lost = 0.2
        posting.repeated = 0.2
        posting.shuffled = 1_800_000
        let service = try await SimulatedService(customers: Self.customers, posting: posting)
        try service.start()
        let tenMinutes: Int64 = 600
        for step in 0..<(7 * 144) {
            // Twelve hours on the second day, and thirty from the fourth.
            if [180, 500].contains(step) { try await service.stop() }
            if [252, 680].contains(step) { try service.start() }
            await service.pass(tenMinutes)
        }
        let end = service.now
        // What was lost last is found within two hours.
        for _ in 0..<12 { await service.pass(tenMinutes, customersLive: false) }

        for (scope, world) in zip(SimulatedService.scopes, [service.standIn.production, service.standIn.sandbox]) {
            let truth = world.truth(at: end.milliseconds)
            #expect(truth.count >= world.settings.customers)
            for (original, truth) in truth {
                let known = try await service.known(original, in: scope, at: end)
                #expect(known == truth, "\(original) in \(scope.environment)")
            }
            expectLoss(world)
        }
        try expectFewRequests(service)
        try await service.end()
    }

    @Test("without the notification history, each subscription is asked about when its period is over, seldom again")
    func polling() async throws {
        let service = try await SimulatedService(customers: Self.customers, posting: Poster.Settings())
        try service.start()
        let hour: Int64 = 3600
        for _ in 0..<72 { await service.pass(hour) }
        let asked = service.standIn.statistics.requests("subscription_statuses")
        // From now on nothing arrives.
        for poster in service.standIn.posters { poster.set(Poster.Settings()) }
        for step in 0..<(5 * 24) {
            // The poller goes on with the new key at once.
            if step == 40 { try service.rotateKey() }
            await service.pass(hour, recovers: false)
        }
        let (production, sandbox) = (service.standIn.production, service.standIn.sandbox)
        var settled = 0
        for (scope, world) in zip(SimulatedService.scopes, [production, sandbox]) {
            for original in world.truth(at: service.now.milliseconds).keys {
                guard let subscription = try await service.subscription(original, in: scope, at: service.now) else {
                    continue
                }
                let isRecent = (subscription.expiresAt ?? .min).milliseconds > service.now.milliseconds - 2 * 3_600_000
                #expect(subscription.settled || isRecent, "\(original) in \(scope.environment)")
                settled += subscription.settled ? 1 : 0
            }
        }
        let subscriptions = (production.subscriptions + sandbox.subscriptions).joined().count
        let questions = service.standIn.statistics.requests("subscription_statuses") - asked
        #expect(settled > Self.customers / 2 && questions > 0 && questions < subscriptions * 3)
        #expect(service.standIn.statistics.answers(429) == 0 && service.standIn.statistics.answers(401) == 0)
        try await service.end()
    }

    /// Otherwise the test would prove nothing.
    private func expectLoss(_ world: StandInWorld) {
        let count = world.notificationCount
        let received = world.notifications(from: .min, until: .max).filter(\.wasReceived).count
        #expect(count > world.settings.customers && received < count)
    }

    private func expectFewRequests(_ service: SimulatedService) throws {
        let statistics = service.standIn.statistics
        #expect(statistics.answers(429) == 0 && statistics.answers(401) == 0)
        let customers = [service.standIn.production, service.standIn.sandbox].map(\.settings.customers).reduce(0, +)
        let requests = statistics.requests("subscription_statuses") + statistics.requests("transaction_history")
        let perDay = Double(requests) / Double(customers) / 7
        let greatest = statistics.counts.perTransaction.values.max() ?? 0
        print(
            """
            \(customers) customers, \(service.standIn.production.notificationCount) notifications in production; \
            requests about a customer in a day: \(perDay) on average; about one subscription in the week: at most \
            \(greatest); all requests: \(statistics.counts.answers)
            """)
        #expect(perDay > 0 && perDay < 0.5)
        #expect(greatest <= 21)
    }
}
