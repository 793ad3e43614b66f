import AppStoreAPI
import AppStoreData
import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility
import Testing

@Suite("The client of the App Store Server API speaks to every endpoint")
struct EndpointTests {
    @Test("statuses name every subscription of the customer, and all that is signed verifies")
    func statuses() async throws {
        let fixture = try await StandInFixture()
        let (id, truth) = (try fixture.subscription, fixture.standIn.production.truth(at: .max))
        try await fixture.withClient { client in
            let statuses = try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            #expect(!statuses.items.isEmpty)
            for item in statuses.items { #expect(truth[item.originalTransactionID.text.description] != nil) }
            let reading = try Self.reader(fixture).read(statuses)
            #expect(Set(reading.facts.map(\.key.kind)) == [.transaction, .renewalInfo, .status])
            #expect(reading.facts.count == 3 * statuses.items.count)
        }
    }

    @Test("a history is read page by page, and what is bought or changed meanwhile comes at the end")
    func history() async throws {
        let fixture = try await StandInFixture(customers: 60, weeks: 60, pageSize: 3)
        let world = fixture.standIn.production
        let now = Timestamp(Date()).milliseconds
        let renewing = world.truth(at: now).filter { $0.value.autoRenews == true && $0.value.status == 1 }
        let longest = try #require(renewing.max { $0.value.transactions < $1.value.transactions })
        try #require(longest.value.transactions > 6)
        try await fixture.withClient { client in
            let id = try fixture.number(longest.key)
            var revision: HistoryRevision?
            var seen: Set<String> = []
            var pages = 0
            while true {
                let page = try await client.send(.transactionHistory(of: id, after: revision), for: StandInFixture.app)
                #expect(page.signedTransactions.count <= 3)
                let reading = try Self.reader(fixture).read(page)
                seen.formUnion(reading.facts.map(\.key.id.text.description))
                (revision, pages) = (page.revision, pages + 1)
                // The customer's next year begins while the first pages are read.
                if pages <= 6 { _ = world.advance(to: now + WorldClock().days(Double(pages) * 60)) }
                guard page.hasMore else { break }
            }
            let after = try #require(world.truth(at: .max)[longest.key])
            #expect(after.transactions > longest.value.transactions && seen.count >= after.transactions && pages > 2)
            #expect(seen.contains(after.transactionID))
            let rest = try await client.send(.transactionHistory(of: id, after: revision), for: StandInFixture.app)
            #expect(rest.signedTransactions.isEmpty && !rest.hasMore, "nothing has changed since")
        }
    }

    @Test("one transaction and the app transaction are given, in production and in the sandbox")
    func information() async throws {
        let fixture = try await StandInFixture()
        let (id, sandboxID) = (
            try fixture.subscription, try fixture.number(#require(fixture.standIn.sandbox.subscriptions.joined().first))
        )
        try await fixture.withClient { client in
            let sandbox = AppScope(bundleID: StandInFixture.app.bundleID, environment: .sandbox)
            for (id, app) in [(id, StandInFixture.app), (sandboxID, sandbox)] {
                let text = try await client.send(.transactionInfo(of: id), for: app)
                let verifier = try Self.verifier(fixture)
                let data: VerifiedData<SignedTransaction> = try verifier.verify(text, at: .ofSigning(otherwise: 0))
                #expect(
                    data.payload.transactionID.text.description == id.text
                        && data.payload.environment == app.environment)
                let appTransaction = try await client.send(.appTransactionInfo(of: id), for: app)
                let _: VerifiedData<AppTransaction> = try verifier.verify(appTransaction, at: .ofSigning(otherwise: 0))
            }
        }
    }

    @Test("the notification history is read page by page, with the result of each attempt")
    func notifications() async throws {
        let fixture = try await StandInFixture(customers: 60)
        let count = fixture.standIn.production.notificationCount
        try #require(count > 40)
        try await fixture.withClient { client in
            let query = NotificationHistoryQuery(
                start: Timestamp(milliseconds: Timestamp(Date()).milliseconds - 20 * 86_400_000), end: Timestamp(Date())
            )
            var token: String?
            var listed: [SentNotification] = []
            repeat {
                let page = try await client.send(.notificationHistory(query, after: token), for: StandInFixture.app)
                listed += page.notifications
                token = page.next
            } while token != nil
            #expect(listed.count == count && Set(listed.map(\.signedPayload)).count == count)
            #expect(listed.allSatisfy { $0.attempts.map(\.result) == ["NO_RESPONSE"] })
        }
    }

    @Test("a test notification is requested, and its result is asked for")
    func testNotification() async throws {
        let fixture = try await StandInFixture()
        try await fixture.withClient { client in
            let token = try await client.send(.testNotification(), for: StandInFixture.app)
            let sent = try await client.send(.testNotificationStatus(token), for: StandInFixture.app)
            #expect(sent.attempts.map(\.result) == ["NO_RESPONSE"])
        }
    }

    @Test("an account token is set, and refused where Apple refuses it")
    func accountToken() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        try await fixture.withClient { client in
            let token = UUIDText(high: 0x6b3a_0000_0000_4000, low: 0x8000_0000_0000_0001)
            try await client.send(.setAppAccountToken(token, of: id), for: StandInFixture.app)
            let statuses = try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            let reading = try Self.reader(fixture).read(statuses)
            #expect(reading.facts.contains { $0.key.kind == .renewalInfo && $0.appAccountToken == token })
        }
    }

    @Test("a piece of another app is refused in every answer, although Apple has signed it")
    func anotherApp() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(.anotherApp, count: .max)
        try await fixture.withClient { client in
            let (app, reader) = (StandInFixture.app, try Self.reader(fixture))
            let statuses = try await client.send(.subscriptionStatuses(of: id), for: app)
            let history = try await client.send(.transactionHistory(of: id, after: nil), for: app)
            let transaction = try await client.send(.transactionInfo(of: id), for: app)
            let number = try #require(OrderNumber(StandInWorld.orderNumber(of: id.text)))
            let order = try await client.send(.transactions(ofOrder: number), for: app)
            for read in [
                { _ = try reader.read(statuses) }, { _ = try reader.read(history) }, { _ = try reader.read(order) },
                { _ = try reader.payload(SignedTransaction.self, of: transaction) },
            ] {
                let refusal = #expect(throws: DataRefusal.self) { try read() }
                #expect(refusal?.code == "another_bundle_id")
            }
        }
    }

    static func verifier(_ fixture: StandInFixture) throws -> AppStoreVerifier {
        AppStoreVerifier(roots: try fixture.dataRoots)
    }

    static func reader(_ fixture: StandInFixture) throws -> SignedAnswerReader {
        SignedAnswerReader(
            try verifier(fixture), for: StandInFixture.app, appAppleID: 1_234_567_890, at: Timestamp(Date()))
    }
}
