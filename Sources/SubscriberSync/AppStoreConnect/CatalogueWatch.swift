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
            var readAt: Timestamp?
            var failure: Diagnostic?
            var failures = 0
            var nextReading = Timestamp.min
            var comparison: Comparison?
        }

        /// The findings of a reading, compared with the configuration file of this digest.
        fileprivate struct Comparison {
            let readAt: Timestamp
            let digest: [UInt8]
            let findings: [CatalogueFinding]
        }

        fileprivate var apps: [BundleID: App] = [:]
        fileprivate var listings: [BundleID: AppListing] = [:]
        fileprivate var reports: [CatalogueReport]?

        package init() {}
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask {
                    var memory = Memory()
                    await Periodic.run(every: Self.pause) { await round(&memory) }
                }
                // A round can take hours, because App Store Connect may limit the requests.
                group.addTask { await Periodic.run(every: Self.firstRetry) { dropOldListings() } }
            }
        }
        await close()
    }

    /// Ends the lease and closes the connection. Call it after the last round.
    package func close() async {
        await reading.release()
        await transport.close()
    }

    /// Drops what was read too long ago. A time in the future shows that the clock was set back, so the age is unknown.
    package func dropOldListings() { policy.dropListings(readOutside: usefulTimes) }

    private var usefulTimes: ClosedRange<Timestamp> { now() - Self.maximumAge...now() + Self.interval }

    /// Reads the apps that are due, and compares each with the configuration in force.
    package func round(_ memory: inout Memory) async {
        let apps = policy.snapshot.configured?.apps ?? [:]
        memory.apps = memory.apps.filter { apps[$0.key] != nil }
        for (bundleID, app) in apps where isDue(memory.apps[bundleID]) {
            if let new = await read(bundleID, app, memory.apps[bundleID] ?? .init()) { memory.apps[bundleID] = new }
            // Each app counts as soon as it is read.
            publish(&memory)
        }
        publish(&memory)
    }

    private func isDue(_ app: Memory.App?) -> Bool {
        guard let time = app?.nextReading else { return true }
        // A later time shows that the clock was set back.
        return time <= now() || time > now() + Self.interval
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
            new.readAt = new.listing?.readAt
            new.storefronts = await StorefrontSample.storefronts(of: bundleID, in: store)
            new.failure = nil
            new.failures = 0
            new.nextReading = now() + Self.interval
        } catch {
            let isCancelled = Task.isCancelled
            // A limit only delays the reading, unless nothing is known any more.
            if case .limited = error, let time = known.listing?.readAt, usefulTimes.contains(time) {
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
        for (bundleID, app) in memory.apps where app.listing.map({ usefulTimes.contains($0.readAt) }) == false {
            memory.apps[bundleID]?.listing = nil
        }
        let listings = memory.apps.compactMapValues(\.listing)
        if listings != memory.listings {
            policy.use(listings)
            memory.listings = listings
        }
        let configured = policy.snapshot.configured
        for (bundleID, app) in configured?.apps ?? [:] {
            compare(bundleID, app, digest: configured?.digest ?? [], in: &memory.apps)
        }
        let reports = memory.apps.sorted { $0.key.text.description < $1.key.text.description }.map { bundleID, known in
            CatalogueReport(
                bundleID: bundleID, findings: known.comparison?.findings, readAt: known.readAt, failure: known.failure)
        }
        guard reports != memory.reports else { return }
        memory.reports = reports
        metrics.update(\.catalogueReports, reports)
        readiness.report(reports.flatMap(\.problems), from: .appStoreConnect, level: .warning, to: log)
    }

    /// Compares an app again if it was read again, or if the configuration file has changed.
    private func compare(
        _ bundleID: BundleID, _ app: Catalogue.App, digest: [UInt8], in apps: inout [BundleID: Memory.App]
    ) {
        guard let known = apps[bundleID] else { return }
        guard let listing = known.listing else {
            apps[bundleID]?.comparison = nil
            return
        }
        guard known.comparison?.readAt != listing.readAt || known.comparison?.digest != digest else { return }
        let check = CatalogueCheck(
            bundleID, app, listing: listing, storefronts: known.storefronts, receivesNotifications: store.isConfigured)
        apps[bundleID]?.comparison = Memory.Comparison(
            readAt: listing.readAt, digest: digest, findings: check.findings())
    }
}
