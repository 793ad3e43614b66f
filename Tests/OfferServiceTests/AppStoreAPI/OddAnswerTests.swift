import AppStoreAPI
import AppStoreData
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferTelemetry
import OutgoingHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

@Suite("Odd answers of the App Store")
struct OddAnswerTests {
    /// Gives the answers in their order, and the last one again and again.
    private final class Answers: HTTPExchange {
        private let bodies: NIOLockedValueBox<[String]>

        init(_ bodies: [String]) { self.bodies = NIOLockedValueBox(bodies) }

        func exchange(_: OutgoingRequest, within _: Duration) async throws(OutgoingFailure) -> IncomingResponse {
            let body = bodies.withLockedValue { $0.count > 1 ? $0.removeFirst() : $0.first ?? "" }
            return IncomingResponse(status: 200, body: Array(body.utf8))
        }
    }

    private struct Setup {
        let service: StoreService
        let refresh: SubscriptionFetch
        let recovery: NotificationRecovery
        let refresher: RefreshQueue

        init(_ answers: [String]) throws {
            let app = Catalogue.App(appAppleID: 1_234_567_890, offers: [:])
            service = try StoreService(catalogue: Catalogue(apps: [Sample.bundleID: app]))
            let (current, policy) = (service.current, service.routes.signer.policy.snapshot)
            let log = RecordedLog().logger
            let trust = try #require(service.routes.trust)
            let now: @Sendable () -> Timestamp = { Timestamp(Date()) }
            let client = AppStoreClient(
                hosts: APIHosts(production: "https://production.example", sandbox: "https://sandbox.example"),
                tokens: TokenSource(credentials: { policy.tokenCredentials }, now: now), transport: Answers(answers),
                pacing: Pacing(now: now, sleep: { _ in }))
            refresh = SubscriptionFetch(client: client, trust: trust, store: current, policy: { policy }, now: now)
            let receipts = ReceiptServiceClient(
                hosts: ReceiptServiceHosts(production: "https://receipts.example", sandbox: "https://receipts.example"),
                transport: Answers(answers), pacing: Pacing(now: now, sleep: { _ in }))
            refresher = RefreshQueue(
                refresh, receipts: ReceiptFetch(client: receipts, store: current, policy: { policy }),
                patience: .seconds(60), problems: SyncProblems(readiness: Readiness(), now: now, log: log), log: log)
            recovery = NotificationRecovery(
                client: client, intake: NotificationIntake(store: current, trust: trust, now: now, log: log),
                store: current, policy: { policy }, now: now, metrics: service.routes.metrics.sync, log: log)
        }

        /// The facts that the store has of the customer of a transaction.
        func facts() async throws -> [SubscriberFact] {
            return try await service.store.customers(
                known: .transactionID(Sample.id("2000000987654321")), bundleID: Sample.bundleID,
                environment: .production
            ).flatMap(\.facts)
        }
    }

    private static func jws(_ payload: SamplePayload) throws -> String {
        "\"\(try TestChain.standard.get().jws(payload))\""
    }

    private static func page(_ entries: [String], revision: String = "r1", hasMore: Bool = false) -> String {
        #"{"signedTransactions":[\#(entries.joined(separator: ","))],"revision":"\#(revision)","hasMore":\#(hasMore)}"#
    }

    private static let number = TransactionNumber.neverIssued

    /// Entries that Apple signed and that cannot be read, and entries that are no JWS at all.
    private static func oddEntries() throws -> [String] {
        [
            try jws(SamplePayload.transaction.without("bundleId")),
            try jws(SamplePayload.transaction.with("environment", #""Staging""#)),
            try jws(SamplePayload.transaction.with("price", #""free""#)),
            try jws(SamplePayload.renewalInfo), "17", "null", "{}",
        ]
    }

    @Test("a history is stored without its odd entries, which are counted, and it is not called complete")
    func history() async throws {
        let good = try Self.jws(.transaction)
        for odd in try Self.oddEntries() {
            let setup = try Setup([Self.page([odd, good])])
            let answer = try await setup.refresh.history(of: Self.number, in: Sample.production)
            #expect(!answer.isWhole)
            #expect(Set(try await setup.facts().map(\.key.kind)) == [.transaction], "\(odd.prefix(20))")
            let refused = #"offer_signer_app_store_data_total{data="transaction",outcome="refused"}"#
            #expect(setup.service.routes.scrape()[refused] == 1)
        }
        let setup = try Setup([Self.page([good])])
        _ = try await setup.refresh.history(of: Self.number, in: Sample.production)
        #expect(Set(try await setup.facts().map(\.key.kind)) == [.transaction, .wholeHistory])
    }

    @Test("an empty history is remembered for a moment, and one with an odd entry is not")
    func empty() async throws {
        let id = Sample.id("704000000000000001")
        for (entries, isEmpty) in [([], true), (["17"], false), ([try Self.jws(.transaction)], false)] {
            let expected: RefreshQueue.Outcome =
                entries == ["17"] ? .unanswered : .answered(hasNews: !isEmpty)
            var outcome = RefreshQueue.Outcome.notNeeded
            // On a busy machine, the time for an answer may be over before it is read.
            for _ in 0..<20 where outcome != expected {
                let setup = try Setup([#"{"data":[]}"#, Self.page(entries)])
                let task = Task { try await setup.refresher.run() }
                let request = try #require(RefreshRequest(id, in: Sample.production))
                outcome = await setup.refresher.refresh([request])
                if outcome == expected {
                    #expect(setup.refresher.saysEmpty(id, in: Sample.production) == isEmpty, "\(entries)")
                    #expect(!setup.refresher.saysEmpty(id, in: Sample.sandbox))
                    #expect(!setup.refresher.saysEmpty(Sample.id("704000000000000002"), in: Sample.production))
                }
                task.cancel()
                _ = await task.result
            }
            #expect(outcome == expected, "\(entries)")
        }
    }

    @Test("statuses are stored without their odd entries")
    func statuses() async throws {
        let (transaction, info) = (try Self.jws(.transaction), try Self.jws(.renewalInfo))
        let first = #"{"originalTransactionId":"2000000123456789","status":1,"signedTransactionInfo":"#
        let good = first + "\(transaction),\"signedRenewalInfo\":\(info)}"
        let other = try Self.jws(SamplePayload.transaction.without("bundleId"))
        for odd in ["\(first)\(other)}", "17", "{}", first + "null}"] {
            let setup = try Setup([#"{"data":[{"lastTransactions":[\#(odd),\#(good)]}]}"#])
            let answer = try await setup.refresh.statuses(of: Self.number, in: Sample.production)
            #expect(!answer.isWhole)
            let kinds = Set(try await setup.facts().map(\.key.kind))
            #expect(kinds == [.transaction, .renewalInfo, .status], "\(odd.prefix(20))")
        }
    }

    @Test("an answer with a forged entry, with one of another app, or with odd entries alone is refused")
    func refused() async throws {
        let good = try Self.jws(.transaction)
        let forged = good.dropLast(10) + "AAAAAAAAA\""
        let another = try Self.jws(SamplePayload.transaction.with("bundleId", #""com.example.other""#))
        let pages = [[good, String(forged)], [good, another]] + (try Self.oddEntries().map { [$0] })
        for entries in pages {
            let setup = try Setup([Self.page(entries)])
            await #expect(throws: SyncError.self) {
                try await setup.refresh.history(of: Self.number, in: Sample.production)
            }
            #expect(try await setup.facts().isEmpty)
        }
    }

    @Test(
        "a history whose revisions repeat ends with an error and is not called complete",
        arguments: [["r1"], ["r1", "r2"]])
    func revisions(names: [String]) async throws {
        let good = try Self.jws(.transaction)
        let pages = (names + names).map { Self.page([good], revision: $0, hasMore: true) }
        let setup = try Setup(pages)
        let failure = await #expect(throws: SyncError.self) {
            try await setup.refresh.history(of: Self.number, in: Sample.production)
        }
        #expect("\(try #require(failure))".contains("would not end"))
        #expect(Set(try await setup.facts().map(\.key.kind)) == [.transaction])
    }

    @Test("a list ends with an error at a link given before, and after more pages than any list has")
    func endlessList() throws {
        var pages = PageSequence(link: "revision", from: "r0", maximumCount: 3)
        try pages.follow("r1")
        #expect(throws: APIFailure.self) { try pages.follow("r0") }
        try pages.follow("r2")
        let failure = #expect(throws: APIFailure.self) { try pages.follow("r3") }
        #expect(failure.map { "\($0)".contains("more than 3 pages") } == true)
    }

    @Test("a history that always has another page ends with an error")
    func endlessHistory() async throws {
        let pages = (0...SubscriptionFetch.maximumPages).map { Self.page([], revision: "r\($0)", hasMore: true) }
        let setup = try Setup(pages)
        let failure = await #expect(throws: SyncError.self) {
            try await setup.refresh.history(of: Self.number, in: Sample.production)
        }
        #expect("\(try #require(failure))".contains("more than \(SubscriptionFetch.maximumPages) pages"))
    }

    @Test("entries of a notification history that cannot be read are counted, and the run goes on")
    func notifications() async throws {
        let odd = #"[17,{},{"signedPayload":1},{"signedPayload":"e.e.e","sendAttempts":[{}]}]"#
        let pages = [
            #"{"notificationHistory":\#(odd),"hasMore":true,"paginationToken":"a"}"#,
            #"{"notificationHistory":[{"signedPayload":"e.e.e"}],"hasMore":false}"#,
        ]
        let setup = try Setup(pages)
        let start = Timestamp(milliseconds: Timestamp(Date()).milliseconds - 3_600_000)
        let counts = try await setup.recovery.run(of: Sample.production, from: start)
        #expect(counts.listed == 5 && counts.refused == 5 && counts.recovered == 0)
    }

    @Test("a notification history whose tokens repeat ends with an error")
    func tokens() async throws {
        let pages = ["a", "b", "a"].map { #"{"notificationHistory":[],"hasMore":true,"paginationToken":"\#($0)"}"# }
        let setup = try Setup(pages)
        let start = Timestamp(milliseconds: Timestamp(Date()).milliseconds - 3_600_000)
        let failure = await #expect(throws: SyncError.self) {
            try await setup.recovery.run(of: Sample.production, from: start)
        }
        #expect("\(try #require(failure))".contains("would not end"))
    }
}
