import AppStoreAPI
package import Logging
import NIOConcurrencyHelpers
package import OfferConfiguration
package import OfferCore
package import OfferEligibility
import OfferTelemetry
import ServiceLifecycle
import SubscriberStore

/// The service that recovers missed notifications for each app and environment, at start and then regularly.
///
/// It reads the history from slightly before the stored checkpoint. Once a day it also reads the list of undeliverable
/// notifications, as far back as the App Store keeps it.
package struct RecoveryWorker: Service {
    private struct Plan {
        var nextHistory = Timestamp.min
        var nextFailures = Timestamp.min
    }

    private let recovery: NotificationRecovery
    private let store: CurrentStore
    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp
    private let problems: SyncProblems
    private let log: Logger
    private let leases: WorkLeases
    private let plans = NIOLockedValueBox<[AppScope: Plan]>([:])

    /// The overlap of two reads of the history, in milliseconds. A notification sent shortly before the checkpoint may
    /// have entered the history after it.
    private static let overlap: Int64 = 3_600_000
    private static let failuresInterval = Duration.days(1)
    private static let retryInterval = Duration.seconds(300)

    package init(
        _ recovery: NotificationRecovery, store: CurrentStore, policy: @escaping @Sendable () -> Policy,
        now: @escaping @Sendable () -> Timestamp, problems: SyncProblems, log: Logger
    ) {
        self.recovery = recovery
        self.store = store
        self.policy = policy
        self.now = now
        self.problems = problems
        self.log = log
        leases = WorkLeases(SharedWork.recovery, in: store)
    }

    /// Returns the interval between recoveries. It is shorter in the sandbox, which sends each notification only once,
    /// and where testers do not wait an hour.
    private static func interval(in environment: AppStoreEnvironment) -> Duration {
        environment == .production ? .hours(1) : .seconds(600)
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await AppRounds(every: .seconds(5)).run {
                let apps = policy().syncableApps
                problems.keepOnly(apps)
                return apps
            } _: { app in
                await leases.of(app).perform { await recover(app) }
            }
        }
        await leases.release()
    }

    /// Recovers the notifications of one app, if a recovery is due.
    package func recover(_ app: AppScope) async {
        let now = now()
        let plan = plans.withLockedValue { $0[app] ?? Plan() }
        guard store.store != nil, plan.nextHistory <= now else { return }
        var next = plan
        do throws(SyncError) {
            try await readHistory(of: app)
            next.nextHistory = now + Self.interval(in: app.environment)
            if plan.nextFailures <= now {
                _ = try await recovery.run(of: app, from: .min, onlyFailures: true)
                next.nextFailures = now + Self.failuresInterval
            }
            problems.clear(of: app, .recovery)
        } catch {
            next.nextHistory = now + Self.retryInterval
            if case .api(.limited(let time)) = error { next.nextHistory = max(next.nextHistory, time) }
            problems.note(error, of: app, .recovery)
        }
        plans.withLockedValue { $0[app] = next }
    }

    private func readHistory(of app: AppScope) async throws(SyncError) {
        // A checkpoint in the future was set by a clock that was ahead.
        let checkpoint = try await recovery.checkpoint(of: app).map { min($0, now()) }
        let start = checkpoint.map { Timestamp(milliseconds: $0.milliseconds - Self.overlap) } ?? .min
        let counts = try await recovery.run(of: app, from: start)
        guard counts.recovered > 0 else { return }
        log.notice(
            "missed notifications recovered",
            metadata: [
                "app": "\(app.bundleID.text)", "environment": "\(app.environment.rawValue)",
                "count": "\(counts.recovered)",
            ])
    }
}
