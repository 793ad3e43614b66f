import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferReports
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import SubscriberSync

@Suite("The worker of reports")
struct ReportWorkerTests {
    private static func subject(_ app: AppScope = Sample.production, asOf day: Double) throws -> ReportSubject {
        ReportSubject(
            ReportedOffer(
                app: app, productID: try ProductID(utf8: Array("monthly".utf8)),
                offerID: try OfferID(utf8: Array("half".utf8)), sample: "s"), asOf: Sample.day(day))
    }

    private static func worker(_ store: CurrentStore, _ log: RecordedLog) throws -> ReportWorker {
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                products: [{productID: monthly, offers: [half]}]
            """
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "offers.yaml")
        try #require(problems.isEmpty, "\(problems)")
        return ReportWorker(
            store, policy: CurrentPolicy(Policy(ring: KeyRing(), catalogue: file.catalogue)),
            background: BackgroundReading(), now: { Sample.day(20) }, metrics: SyncMetrics(MetricRegistry()),
            log: log.logger)
    }

    private static func fill(_ store: CurrentStore, _ count: UInt64) async throws {
        try await store.add(
            (1...count).map { number in
                .exposure(
                    Sample.production,
                    Sample.exposure(
                        of: Sample.account(number), number % 2 == 0 ? .heldOut : .offered, sample: "s", at: 1))
            })
    }

    @Test("several processes make all reports, those of one process at a time")
    func processes() async throws {
        let server = try TestPostgreSQL.shared.get()
        let url = try server.makeDatabase()
        let stores = try (0..<3).map { _ in
            CurrentStore(
                StoreSettings(location: .postgreSQL(url: url)),
                store: try PostgreSQLStore(PostgreSQLSettings(url: url, writers: 2, readers: 1)),
                log: RecordedLog().logger)
        }
        defer { for store in stores { try? store.store?.close() } }
        try await Self.fill(stores[0], 120)
        let subjects = try (2...7).map { try Self.subject(asOf: Double($0)) }
        for subject in subjects { #expect(try await stores[0].requestReport(subject, at: Sample.day(10))) }
        let workers = try stores.map { try Self.worker($0, RecordedLog()) }
        // A process that is too slow loses its lease, and the report waits for the next round.
        try await waitUntil {
            await withTaskGroup(of: Void.self) { group in
                for worker in workers { group.addTask { await worker.round() } }
            }
            return try await stores[1].keptReports().allSatisfy { $0.requestedAt == nil }
        }
        let kept = try await stores[1].keptReports()
        #expect(kept.count == 6 && kept.allSatisfy { $0.madeAt == Sample.day(20) && $0.requestedAt == nil })
        for subject in subjects { #expect(try await stores[2].result(of: subject) != nil) }
        withExtendedLifetime(server) {}
    }

    @Test("a report that fails is noted, and the next one is made")
    func failure() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let log = RecordedLog()
        let store = CurrentStore(
            StoreSettings(location: .sqlite(path: path)), store: try SQLiteStore(SQLiteSettings(path: path)),
            log: log.logger)
        defer { try? store.store?.close() }
        try await Self.fill(store, 10)
        let unknown = AppScope(bundleID: try BundleID(utf8: Array("com.example.gone".utf8)), environment: .production)
        let (failing, good) = (try Self.subject(unknown, asOf: 2), try Self.subject(asOf: 2))
        _ = try await store.requestReport(failing, at: Sample.day(1))
        _ = try await store.requestReport(good, at: Sample.day(2))
        await (try Self.worker(store, log)).round()
        let kept = Dictionary(uniqueKeysWithValues: try await store.keptReports().map { ($0.subject, $0) })
        #expect(kept[failing]?.failedAt == Sample.day(20) && kept[failing]?.madeAt == nil)
        #expect(kept[good]?.madeAt == Sample.day(20) && kept[good]?.failedAt == nil)
        #expect(log.lines(with: "warning a report failed").count == 1)
        #expect(try await store.keptReports().allSatisfy { $0.requestedAt == nil })
    }

    @Test("the report about subscriptions is made on request too")
    func subscriptions() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let log = RecordedLog()
        let store = CurrentStore(
            StoreSettings(location: .sqlite(path: path)), store: try SQLiteStore(SQLiteSettings(path: path)),
            log: log.logger)
        defer { try? store.store?.close() }
        let facts = (1...3).map { Sample.transaction("\($0)", of: "\($0)", 0, 30) }
        for fact in facts { try await store.merge([fact], in: Sample.production) }
        let subject = ReportSubject(.subscriptions(Sample.production, .pacific))
        #expect(try await store.requestReport(subject, at: Sample.day(10)))
        await (try Self.worker(store, log)).round()
        let result = try #require(try await store.result(of: subject))
        let report = try #require(SubscriptionReport(kept: result))
        #expect(report.question.asOf == Sample.day(20) && report.question.zone == .pacific)
        #expect(report.groups.first?.now.allActive == 3)
    }
}
