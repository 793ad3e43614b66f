import AppStoreAPI
import AppStoreConnect
import AppStoreStandIn
import Foundation
import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import SubscriberSync

@Suite("The watch of the catalogue")
struct CatalogueWatchTests {
    /// A watch over a stand-in for App Store Connect, with a clock that the test moves.
    private struct Watched {
        static let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                refuseDeadOffers: true
                products:
                  - productID: com.example.app.pro.monthly
                    offers: [{offerID: winback_1m, rule: win_back}, retention_free, up_front_3m]
            """

        let folder: TemporaryFolder
        let standIn: AppStoreConnectStandIn
        let policy: CurrentPolicy
        let readiness = Readiness()
        let registry = MetricRegistry()
        let metrics: SyncMetrics
        let store: CurrentStore
        let watch: CatalogueWatch
        let clock: NIOLockedValueBox<Timestamp>
        /// Called after each wait of the client.
        let onWait = NIOLockedValueBox<@Sendable () -> Void>({})

        init(_ catalogue: ConnectCatalogue = .example, store: CurrentStore? = nil) async throws {
            folder = try TemporaryFolder()
            let log = RecordedLog(level: .trace)
            let key = try SigningKey(text: PrivateKeyPEM.generate())
            standIn = try await AppStoreConnectStandIn(catalogue, folder: folder.path)
            let (file, problems) = ConfigurationFile.read(Array(Self.yaml.utf8), name: "offers.yaml")
            try #require(problems.isEmpty, "\(problems)")
            policy = CurrentPolicy(Policy(ring: KeyRing(), catalogue: file.catalogue))
            metrics = SyncMetrics(registry)
            self.store = store ?? CurrentStore(nil, log: log.logger)
            let clock = NIOLockedValueBox(Timestamp(Date()))
            self.clock = clock
            let onWait = onWait
            let sleep: @Sendable (Duration) -> Void = { wait in
                clock.withLockedValue { $0 = $0 + wait }
                onWait.withLockedValue { $0 }()
            }
            let roots = try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: standIn.tls.rootPath))))
            watch = try CatalogueWatch(
                AppStoreConnectSettings(
                    key: AppStoreConnectKey(
                        keyID: KeyID(utf8: Array("CONNECTKEY".utf8)), issuerID: nil, pair: key),
                    host: standIn.url, roots: roots),
                policy: policy, store: self.store,
                pacing: Pacing(now: { clock.withLockedValue { $0 } }, sleep: { sleep($0) }), readiness: readiness,
                metrics: metrics, log: log.logger)
        }

        func stop() async {
            await watch.close()
            await standIn.stop()
        }

        func advance(_ time: Duration) { clock.withLockedValue { $0 = $0 + time } }

        var codes: [CatalogueFinding.Code] {
            metrics.figures.catalogueReports.flatMap { $0.findings ?? [] }.filter { $0.severity == .error }.map(\.code)
        }

        /// True if the service refuses the offer as dead.
        func isDead(_ offer: String) throws -> Bool {
            let app = policy.snapshot.catalogue?.apps[Sample.bundleID]
            return try app?.isUnavailable(
                ProductID(utf8: Array("com.example.app.pro.monthly".utf8)), OfferID(utf8: Array(offer.utf8))) == true
        }
    }

    @Test("a dead offer is known within one round, and again after it is restored")
    func deadOffer() async throws {
        let watched = try await Watched()
        var memory = CatalogueWatch.Memory()
        await watched.watch.round(&memory)
        #expect(watched.codes.isEmpty && !watched.readiness.hasProblem(from: .appStoreConnect))
        #expect(watched.policy.snapshot.catalogue?.apps[Sample.bundleID]?.listing != nil)
        let calls = watched.standIn.seen.count
        let whole = watched.standIn.catalogue
        watched.standIn.catalogue["com.example.app.pro.monthly"]?.offers.remove(at: 0)
        await watched.watch.round(&memory)
        #expect(watched.standIn.seen.count == calls, "nothing is read before six hours have passed")
        watched.advance(CatalogueWatch.interval)
        await watched.watch.round(&memory)
        #expect(watched.codes == [.unknownOffer] && watched.readiness.hasProblem(from: .appStoreConnect))
        #expect(try watched.isDead("winback_1m") && !watched.isDead("up_front_3m"))
        watched.standIn.catalogue = whole
        watched.advance(CatalogueWatch.interval)
        await watched.watch.round(&memory)
        #expect(watched.codes.isEmpty && !watched.readiness.hasProblem(from: .appStoreConnect))
        #expect(try !watched.isDead("winback_1m"))
        await watched.stop()
    }

    @Test("a failure is reported and repeated, and after a day without an answer nothing is refused")
    func failure() async throws {
        let watched = try await Watched()
        watched.standIn.catalogue["com.example.app.pro.monthly"]?.offers.remove(at: 0)
        var memory = CatalogueWatch.Memory()
        await watched.watch.round(&memory)
        #expect(try watched.isDead("winback_1m"))
        watched.advance(CatalogueWatch.interval)
        watched.standIn.add(.forbidden("FORBIDDEN_ERROR"))
        await watched.watch.round(&memory)
        #expect(watched.readiness.problems.contains { $0.error.contains("role of the key") })
        #expect(try watched.isDead("winback_1m"), "what was read still counts")
        watched.advance(.seconds(120))
        await watched.watch.round(&memory)
        #expect(!watched.readiness.problems.contains { $0.error.contains("role of the key") })
        for _ in 0..<30 {
            watched.advance(.hours(1))
            watched.standIn.add(.forbidden("FORBIDDEN_ERROR"))
            await watched.watch.round(&memory)
        }
        #expect(try !watched.isDead("winback_1m"), "a refusal must not rest on old data")
        let report = try #require(watched.metrics.figures.catalogueReports.first)
        #expect(report.findings == nil && report.readAt != nil, "the alert about the age needs the time")
        await watched.stop()
    }

    @Test("old data stops counting while the next reading waits for the limit, and the limit is reported then")
    func slowReading() async throws {
        let watched = try await Watched()
        watched.standIn.catalogue["com.example.app.pro.monthly"]?.offers.remove(at: 0)
        var memory = CatalogueWatch.Memory()
        await watched.watch.round(&memory)
        watched.advance(.hours(23))
        let refusals = NIOLockedValueBox<[Bool?]>([])
        watched.onWait.withLockedValue {
            $0 = {
                watched.watch.dropOldListings()
                refusals.withLockedValue { $0.append(try? watched.isDead("winback_1m")) }
            }
        }
        for _ in 0..<6 { watched.standIn.add(.limited(["Retry-After": "3000"])) }
        await watched.watch.round(&memory)
        #expect(refusals.withLockedValue { $0 } == [true, false, false, false, false])
        #expect(watched.readiness.problems.contains { $0.error.contains("the limit for this hour is used up") })
        await watched.stop()
    }

    @Test("a clock that is set back by a week delays no reading, and what was read in its future does not count")
    func clockSetBack() async throws {
        let watched = try await Watched()
        watched.standIn.catalogue["com.example.app.pro.monthly"]?.offers.remove(at: 0)
        var memory = CatalogueWatch.Memory()
        await watched.watch.round(&memory)
        let calls = watched.standIn.seen.count
        watched.advance(.hours(-168))
        watched.watch.dropOldListings()
        #expect(try !watched.isDead("winback_1m"))
        await watched.watch.round(&memory)
        #expect(watched.standIn.seen.count > calls)
        #expect(try watched.isDead("winback_1m"))
        await watched.stop()
    }

    @Test("a changed configuration file is compared at once, without another reading")
    func changedFile() async throws {
        let watched = try await Watched()
        var memory = CatalogueWatch.Memory()
        await watched.watch.round(&memory)
        let calls = watched.standIn.seen.count
        let text = Watched.yaml.replacingOccurrences(of: "up_front_3m", with: "up_front_4m")
        let (file, _) = ConfigurationFile.read(Array(text.utf8), name: "offers.yaml")
        watched.policy.replace(with: Policy(ring: KeyRing(), catalogue: file.catalogue))
        await watched.watch.round(&memory)
        #expect(watched.codes == [.unknownOffer] && watched.standIn.seen.count == calls)
        await watched.stop()
    }

    @Test("of the processes with one PostgreSQL database, only one reads at a time, and each of them reads")
    func lease() async throws {
        let location = try #require(StoreLocation(TestPostgreSQL.shared.get().makeDatabase()))
        let (other, store) = (try location.open(), try location.open())
        let watched = try await Watched(
            store: CurrentStore(StoreSettings(location: location), store: store, log: RecordedLog().logger))
        var memory = CatalogueWatch.Memory()
        #expect(try await other.claim(.catalogueReading, for: .seconds(600)))
        await watched.watch.round(&memory)
        #expect(watched.standIn.seen.isEmpty, "another process is reading")
        try await other.release(.catalogueReading)
        await watched.watch.round(&memory)
        #expect(!watched.standIn.seen.isEmpty)
        #expect(try await other.claim(.catalogueReading, for: .seconds(1)), "the next process can read at once")
        await watched.stop()
        try store.close()
        try other.close()
    }

    @Test("the pages of a sample spread over all subscriptions, the newest included")
    func sample() {
        #expect(StorefrontSample.starts(in: 1...50) == [1])
        let starts = StorefrontSample.starts(in: 1...1_000_000)
        #expect(starts.first == 999_901 && starts.contains(1) && starts.count <= 22)
        #expect(Set(starts).count == starts.count && starts.allSatisfy { (1...1_000_000).contains($0) })
    }

    @Test("where customers are comes from their purchases")
    func storefronts() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(SQLiteSettings(path: folder.path + "/store.sqlite"))
        let current = CurrentStore(
            StoreSettings(location: .sqlite(path: folder.path + "/store.sqlite")), store: store,
            log: RecordedLog().logger)
        #expect(await StorefrontSample.storefronts(of: Sample.bundleID, in: current) == nil)
        for (number, storefront) in ["USA", "DEU", "USA"].enumerated() {
            try await store.merge(
                [Sample.transaction("\(1000 + number)", of: "\(1000 + number)") { $0.storefront = storefront }],
                in: Sample.production)
        }
        #expect(await StorefrontSample.storefronts(of: Sample.bundleID, in: current) == ["USA", "DEU"])
    }
}
