package import Logging
import NIOConcurrencyHelpers
package import OfferConfiguration
package import OfferCore
import OfferEligibility
import OfferTelemetry
import ServiceLifecycle
package import SubscriberStore

/// The service that finds the events of customers, on one process at a time. It reviews each customer whose records changed,
/// and each one about whom a decision may change because time has passed.
///
/// It works on threads that run only when no event loop needs their core. ``ForwardingWorker`` sends what it finds.
package struct EventWorker: Service {
    private let store: CurrentStore
    private let policy: CurrentPolicy
    private let background: BackgroundReading
    private let now: @Sendable () -> Timestamp
    private let metrics: SyncMetrics
    private let finding: WorkLease
    private let warning: ThrottledWarning
    private let progress = NIOLockedValueBox(Progress())

    private struct Progress {
        /// The rules of each app whose reviews have begun; empty after their end.
        var rules: [AppScope: String] = [:]
        /// The subscriptions whose reviews failed, and when they are made again.
        var failures: [Int64: ContinuousClock.Instant] = [:]
        /// The most overdue review of each app, as it was last read.
        var first: [AppScope: First] = [:]

        struct First {
            let subscription: Int64
            let version: Int64
            let since: Timestamp
        }

        mutating func failed(at now: ContinuousClock.Instant) -> Set<Int64> {
            failures = failures.filter { $0.value > now }
            return Set(failures.keys)
        }
    }

    private static let interval = Duration.milliseconds(500)
    private static let figuresInterval = Duration.seconds(10)
    /// The reviews of an app that are made before those of the next app.
    private static let reviewsPerStep = 50
    /// The reviews that are made due at a time: few, because a signature may wait for their rows.
    private static let enrolmentsPerStep = 100
    /// The time after which a failed review is made again.
    private static let pause = Duration.seconds(60)

    /// - Parameter background: the threads that read and decide.
    package init(
        _ store: CurrentStore, policy: CurrentPolicy, background: BackgroundReading,
        now: @escaping @Sendable () -> Timestamp, metrics: SyncMetrics, log: Logger
    ) {
        self.store = store
        self.policy = policy
        self.background = background
        self.now = now
        self.metrics = metrics
        finding = WorkLease(.findingEvents, in: store)
        warning = ThrottledWarning("the events of customers could not be found", log: log)
    }

    package func run() async throws {
        guard store.isConfigured else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            async let figures: Void = Periodic.run(every: Self.figuresInterval) { await readFigures() }
            await Periodic.run(every: Self.interval) { await round() }
            await figures
        }
        await finding.release()
    }

    /// Reads how late reviews are, on every process: the one that makes them may have stopped.
    package func readFigures() async {
        guard store.store != nil, let catalogue = policy.snapshot.catalogue else { return }
        var oldest: [AppScope: Timestamp] = [:]
        var first: [AppScope: Progress.First] = [:]
        for (bundleID, app) in catalogue.apps where !app.events.receivers.isEmpty {
            for environment in app.environments {
                let scope = AppScope(bundleID: bundleID, environment: environment)
                let time = now()
                do {
                    guard let due = try await store.dueReviews(of: scope, by: time, limit: 1).first else { continue }
                    let known = progress.withLockedValue { $0.first[scope] }
                    let isSame = known?.subscription == due.subscription && known?.version == due.version
                    let since = isSame ? known?.since ?? time : time
                    first[scope] = Progress.First(subscription: due.subscription, version: due.version, since: since)
                    let planned = try await store.oldestDueReview(of: scope, by: time)
                    // The reviews move on, unless the first one is the same for a while.
                    oldest[scope] = isSame ? min(since, planned ?? since) : planned
                } catch { return }
            }
        }
        progress.withLockedValue { [first] in $0.first = first }
        metrics.update(\.oldestReviews, oldest)
    }

    /// Makes all due reviews of the apps that have receivers, some of each app at a time.
    package func round() async {
        guard let catalogue = policy.snapshot.catalogue, store.store != nil, hasWork(catalogue) else { return }
        await finding.perform {
            await background.run {
                while !Task.isCancelled, let catalogue = policy.snapshot.catalogue {
                    var hasMore = false
                    for (bundleID, app) in catalogue.apps {
                        for environment in app.environments where !Task.isCancelled {
                            let app = Step(
                                app: AppScope(bundleID: bundleID, environment: environment), configured: app,
                                rules: Hexadecimal.text(of: catalogue.digest))
                            if await make(app) { hasMore = true }
                        }
                    }
                    guard hasMore else { return }
                }
            }
        }
    }

    private struct Step {
        let app: AppScope
        let configured: Catalogue.App
        let rules: String
    }

    /// Returns false if no app has events, or had them before.
    private func hasWork(_ catalogue: Catalogue) -> Bool {
        catalogue.apps.contains { bundleID, app in
            !app.events.receivers.isEmpty
                || app.environments.contains { environment in
                    let scope = AppScope(bundleID: bundleID, environment: environment)
                    return progress.withLockedValue { $0.rules[scope] != "" }
                }
        }
    }

    /// Makes some due reviews of an app, or makes more of them due.
    /// - Returns: true if there may be more.
    private func make(_ step: Step) async -> Bool {
        let app = step.app
        do throws(StoreError) {
            guard !step.configured.events.receivers.isEmpty else {
                let hasMore = try await store.endReviews(of: app, limit: Self.enrolmentsPerStep)
                if !hasMore { progress.withLockedValue { $0.rules[app] = "" } }
                return hasMore
            }
            if progress.withLockedValue({ $0.rules[app] != step.rules }) {
                try await store.beginReviews(of: app, by: step.rules, at: now())
                progress.withLockedValue { $0.rules[app] = step.rules }
            }
            let failed = progress.withLockedValue { $0.failed(at: .now) }
            let due = try await store.dueReviews(of: app, by: now(), limit: Self.reviewsPerStep + failed.count)
                .filter { !failed.contains($0.subscription) }
            guard !due.isEmpty else {
                return try await store.enrolCustomers(of: app, limit: Self.enrolmentsPerStep)
            }
            let reviewer = CustomerReviewer(store, of: app, step.configured)
            for review in due where !Task.isCancelled { await make(review, reviewer) }
            return true
        } catch {
            metrics.reviewed(.failed)
            warning.warn(["app": "\(app.bundleID.text)", "reason": "\(error.detail)"])
            return false
        }
    }

    /// Makes a review. If it fails, it is made again after a minute.
    private func make(_ due: DueReview, _ reviewer: CustomerReviewer) async {
        do {
            guard let kinds = try await reviewer.review(due, at: now()) else { return metrics.reviewed(.repeated) }
            metrics.reviewed(.made)
            for kind in kinds { metrics.found(kind) }
        } catch {
            guard !Task.isCancelled else { return }
            metrics.reviewed(.failed)
            progress.withLockedValue { $0.failures[due.subscription] = .now + Self.pause }
            warning.warn(["app": "\(due.app.bundleID.text)", "reason": "\(error)"])
        }
    }
}
