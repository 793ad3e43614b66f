package import AppStoreAPI
import AppStoreConnect
package import Logging
package import OfferConfiguration
package import OfferCore
import OfferEligibility
package import OfferTelemetry
import OutgoingHTTP
import ServiceLifecycle
import SubscriberStore

/// The service that reads App Store Connect every six hours, and compares it with the catalogue.
///
/// What it read is only in memory: after a restart, it reads at once. Every process needs the data, so each one reads, but
/// only one at a time.
package struct CatalogueWatch: Service {
    private let reader: AppListingReader
    private let transport: OutgoingClient
    private let policy: CurrentPolicy
    private let store: CurrentStore
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: SyncMetrics
    private let log: Logger
    private let reading: WorkLease

    package static let interval = Duration.hours(6)
    /// The age at which a listing no longer counts. A refusal must not rest on old data.
    package static let maximumAge = Duration.hours(24)
    private static let firstRetry = Duration.seconds(60)
    private static let longestRetry = Duration.hours(1)
    private static let pause = Duration.seconds(5)

    /// - Throws: a problem for the operator, if a certificate cannot be used.
    package init(
        _ settings: AppStoreConnectSettings, policy: CurrentPolicy, store: CurrentStore, pacing: Pacing,
        readiness: Readiness, metrics: SyncMetrics, log: Logger
    ) throws(Diagnostic) {
        transport = try settings.makeTransport()
        let client = AppStoreConnectClient(
            host: settings.host, key: settings.key, transport: transport, pacing: pacing, observe: metrics.read)
        reader = AppListingReader(client: client, now: pacing.now)
        self.policy = policy
        self.store = store
        now = pacing.now
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        reading = WorkLease(.catalogueReading, in: store)
    }

    /// What the watch knows from one round to the next.
    package struct Memory: Sendable {
        fileprivate struct App {
            var listing: AppListing?
            var storefronts: Set<String>?
            var failure: Diagnostic?
            var failures = 0
            var nextReading = Timestamp.min
        }

        fileprivate var apps: [BundleID: App] = [:]
        fileprivate var listings: [BundleID: AppListing] = [:]
        fileprivate var reports: [CatalogueReport]?

        package init() {}
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var memory = Memory()
            await Periodic.run(every: Self.pause) { await round(&memory) }
        }
        await close()
    }

    /// Ends the lease and closes the connection. Call it after the last round.
    package func close() async {
        await reading.release()
        await transport.close()
    }

    /// Reads the apps that are due, and compares each with the configuration in force.
    package func round(_ memory: inout Memory) async {
        let apps = policy.snapshot.configured?.apps ?? [:]
        memory.apps = memory.apps.filter { apps[$0.key] != nil }
        for (bundleID, app) in apps where memory.apps[bundleID, default: .init()].nextReading <= now() {
            if let new = await read(bundleID, app, memory.apps[bundleID] ?? .init()) { memory.apps[bundleID] = new }
            // Each app counts as soon as it is read.
            publish(&memory)
        }
        publish(&memory)
    }

    /// - Returns: nil if another process is reading.
    private func read(_ bundleID: BundleID, _ app: Catalogue.App, _ known: Memory.App) async -> Memory.App? {
        guard store.isConfigured else { return await readAlone(bundleID, app, known) }
        let result = ReadApp()
        await reading.perform { await result.set(readAlone(bundleID, app, known)) }
        await reading.release()
        return await result.app
    }

    private actor ReadApp {
        private(set) var app: Memory.App?

        func set(_ app: Memory.App) { self.app = app }
    }

    private func readAlone(_ bundleID: BundleID, _ app: Catalogue.App, _ known: Memory.App) async -> Memory.App {
        var new = known
        do throws(AppStoreConnectFailure) {
            new.listing = try await reader.read(
                bundleID, .only(app.offers), wantsRetention: !app.rules.retention.isEmpty)
            new.storefronts = await StorefrontSample.storefronts(of: bundleID, in: store)
            new.failure = nil
            new.failures = 0
            new.nextReading = now() + Self.interval
        } catch {
            let isCancelled = Task.isCancelled
            // A limit only delays the reading.
            if case .limited = error {
                new.failure = known.failure
            } else if !isCancelled {
                new.failure = error.diagnostic
            }
            new.failures += 1
            new.nextReading = now() + min(Self.firstRetry * (1 << min(new.failures - 1, 6)), Self.longestRetry)
        }
        return new
    }

    /// Puts the listings in force, and reports the findings if anything has changed.
    private func publish(_ memory: inout Memory) {
        let oldest = now() - Self.maximumAge
        for (bundleID, app) in memory.apps where app.listing.map({ $0.readAt < oldest }) == true {
            memory.apps[bundleID]?.listing = nil
        }
        let listings = memory.apps.compactMapValues(\.listing)
        if listings != memory.listings {
            policy.use(listings)
            memory.listings = listings
        }
        let configured = policy.snapshot.configured
        let reports = memory.apps.sorted { $0.key.text.description < $1.key.text.description }.compactMap {
            bundleID, known in
            configured?.apps[bundleID].map { report(bundleID, $0, known) }
        }
        guard reports != memory.reports else { return }
        memory.reports = reports
        metrics.update(\.catalogueReports, reports)
        readiness.report(reports.flatMap(\.problems), from: .appStoreConnect, level: .warning, to: log)
    }

    private func report(_ bundleID: BundleID, _ app: Catalogue.App, _ known: Memory.App) -> CatalogueReport {
        let findings = known.listing.map { listing in
            CatalogueCheck(
                bundleID, app, listing: listing, storefronts: known.storefronts,
                receivesNotifications: store.isConfigured
            ).findings()
        }
        return CatalogueReport(
            bundleID: bundleID, findings: findings ?? [], readAt: known.listing?.readAt, failure: known.failure)
    }
}
