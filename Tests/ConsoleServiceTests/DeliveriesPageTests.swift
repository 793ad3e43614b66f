import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Deliveries in the console")
struct DeliveriesPageTests {
    private static let receiver = "https://backend.example:8443/hook?secret=marked"

    /// Puts an event of a new customer into the outbox, and gives it up.
    private static func giveUp(_ id: UUIDText, _ type: String, _ console: TestConsole) async throws {
        try await console.store.beginReviews(of: Sample.production, by: "rules", at: console.now)
        try await console.store.merge([Sample.transaction("7", of: "7")], in: Sample.production)
        let due = try await console.store.dueReviews(of: Sample.production, by: console.now, limit: 1)
        let body = #"{"id":"\#(id)","type":"\#(type)"}"#
        let review = SettledReview(
            try #require(due.first), of: Sample.id("7"), states: nil, next: nil,
            events: [SettledReview.Event(id: id, body: Array(body.utf8))], receivers: [receiver],
            representatives: [], at: console.now)
        #expect(try await console.store.settle(review))
        let claimed = try await console.store.claimForwards(
            to: receiver, dueAt: console.now, leaseEnd: console.now + .seconds(60), limit: 9)
        let forward = try #require(claimed.first { $0.contentID == "\(id)" })
        try await console.store.settle(forward.id, .dead(at: console.now))
    }

    @Test("the page shows what waits and what was given up, without secrets, and an operator sends it again")
    func deliveries() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["operator"])
        #expect(await console.get("/deliveries", cookie: cookie).text.contains("No receivers"))
        let now = console.now
        for (number, uuid) in ["waiting", "dead"].enumerated() {
            let original = "900000000000\(number)"
            let delivery = Sample.delivery(
                uuid, [Sample.transaction(original, of: original)], to: [Self.receiver])
            #expect(try await console.store.apply(delivery) == .applied)
        }
        for forward in try await console.store.claimForwards(
            to: Self.receiver, dueAt: now, leaseEnd: now + .seconds(60), limit: 9)
        where forward.contentID == "dead" { try await console.store.settle(forward.id, .dead(at: now)) }

        let event = UUIDText(high: 4, low: 9)
        try await Self.giveUp(event, "became_eligible", console)
        let page = await console.get("/deliveries", cookie: cookie).text
        #expect(page.contains(">became_eligible<") && page.contains(">\(event)<"))
        #expect(page.contains("https://backend.example:8443") && !page.contains("marked"))
        #expect(page.contains("no longer configured") && page.contains("DID_RENEW") && page.contains(">dead<"))
        #expect(try await console.store.receivers().map(\.dead) == [2])

        let answer = await console.post("/deliveries/retry", "", cookie: cookie)
        #expect(answer.location == "/deliveries")
        #expect(try await console.store.receivers().map { [$0.pending, $0.dead] } == [[3, 0]])
        #expect(try console.auditLines().contains { $0.contains(#""kind":"console_retry""#) })
        let after = await console.get("/deliveries", cookie: cookie).text
        #expect(!after.contains("/deliveries/retry"), "nothing is left to send again")
    }
}
