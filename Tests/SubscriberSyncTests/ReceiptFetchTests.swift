import AppStoreAPI
import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferEligibility
import OutgoingHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferConfiguration
@testable import SubscriberSync

@Suite("What verifyReceipt says is stored")
struct ReceiptFetchTests {
    /// A stand-in, a store, and what asks one about receipts for the other.
    private struct Setup {
        let standIn: AppStoreStandIn
        let store: SQLiteStore
        let transport: OutgoingClient
        let folder: TemporaryFolder

        init() async throws {
            folder = try TemporaryFolder()
            let start = Int64(Date().timeIntervalSince1970 * 1000) - WorldClock().days(14)
            let clock = TestClock(start)
            standIn = try await AppStoreStandIn(AppStoreStandIn.Settings { clock.now }, folder: folder.path)
            clock.now = start + WorldClock().days(14)
            await standIn.advance()
            store = try SQLiteStore(SQLiteSettings(path: folder.path + "/store.sqlite"))
            let root = try [UInt8](Data(contentsOf: URL(filePath: standIn.tls.rootPath)))
            transport = try OutgoingClient(roots: X509Certificate.readAll(root))
        }

        func refresh(
            _ receipt: String, of app: AppScope, secret: String? = "0123456789abcdef0123456789abcdef"
        ) async throws -> [SubscriberFact] {
            let settings = StoreSettings(location: .sqlite(path: folder.path + "/store.sqlite"))
            let configured = Catalogue.App(
                appAppleID: 1_234_567_890, offers: [:],
                notifications: AppNotifications(sharedSecret: secret.map { Secret($0) }))
            let policy = Policy(ring: KeyRing(), catalogue: Catalogue(apps: [app.bundleID: configured]))
            let hosts = ReceiptServiceHosts(production: standIn.productionURL, sandbox: standIn.sandboxURL)
            let client = ReceiptServiceClient(
                hosts: hosts, transport: transport, pacing: Pacing(now: { Timestamp(Date()) }, sleep: { _ in }))
            let refresh = ReceiptFetch(
                client: client, store: CurrentStore(settings, store: store, log: RecordedLog().logger),
                policy: { policy })
            return try await refresh.refresh(Array(receipt.utf8), of: app, by: .now() + .minutes(30))
        }

        /// Runs a test and closes everything, also after an error.
        static func with(_ test: (Setup) async throws -> Void) async throws {
            let setup = try await Setup()
            let result: Result<Void, any Error>
            do { result = .success(try await test(setup)) } catch { result = .failure(error) }
            await setup.transport.close()
            await setup.standIn.stop()
            try setup.store.close()
            try result.get()
        }
    }

    @Test(
        "production is asked first, and refers receipts of the sandbox", arguments: [Sample.production, Sample.sandbox])
    func stored(app: AppScope) async throws {
        try await Setup.with { setup in
            let world = app == Sample.production ? setup.standIn.production : setup.standIn.sandbox
            let original = try #require(world.subscriptions.joined().first)
            let facts = try await setup.refresh("a receipt with \(original) in it", of: app)
            #expect(
                facts.contains { $0.key.kind == .fetchedTransaction }
                    && facts.contains { $0.key.kind == .fetchedRenewalInfo })
            let customers = try await setup.store.customers(
                known: .originalTransactionID(Sample.id(original)), bundleID: app.bundleID, environment: nil)
            #expect(customers.count == 1 && customers[0].app == app)
            let now = Timestamp(Date())
            let state = SubscriberState(
                of: SubscriberFacts(customers.flatMap(\.facts)), environment: app.environment, at: now)
            let truth = try #require(world.truth(at: now.milliseconds)[original])
            let subscription = try #require(
                state.subscriptions.first { $0.originalTransactionID == Sample.id(original) })
            #expect(subscription.transactionID.text.description == truth.transactionID)
            #expect(subscription.autoRenews == truth.autoRenews)
            #expect(setup.standIn.statistics.requests("verify_receipt") == (app == Sample.production ? 1 : 2))
        }
    }

    @Test("nothing is stored of a receipt that is unknown, of another environment, or without the right secret")
    func refused() async throws {
        try await Setup.with { setup in
            let original = try #require(setup.standIn.sandbox.subscriptions.joined().first)
            for (receipt, secret) in [
                ("nothing", "0123456789abcdef0123456789abcdef"), (original, "wrong"), (original, nil),
            ] {
                await #expect(throws: ReceiptFetch.Failure.self) {
                    try await setup.refresh(receipt, of: Sample.sandbox, secret: secret)
                }
            }
            await #expect(throws: ReceiptFetch.Failure.self) {
                try await setup.refresh(original, of: Sample.production)
            }
            #expect(try await setup.store.intakes().isEmpty)
        }
    }
}

/// A clock that a test sets.
private final class TestClock: Sendable {
    private let time: NIOLockedValueBox<Int64>

    init(_ time: Int64) { self.time = NIOLockedValueBox(time) }

    var now: Int64 {
        get { time.withLockedValue { $0 } }
        set { time.withLockedValue { $0 = newValue } }
    }
}
