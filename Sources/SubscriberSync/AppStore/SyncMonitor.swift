import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferTelemetry
import ServiceLifecycle
import SubscriberStore

/// The service that updates the figures about sync with the App Store. It runs in every process that uses the database.
struct SyncMonitor: Service {
    let store: CurrentStore
    let policy: @Sendable () -> Policy
    let now: @Sendable () -> Timestamp
    let metrics: SyncMetrics

    /// The number at which the count of due subscriptions stops.
    private static let maximumDue = 100_000

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await Periodic.run(every: .seconds(15)) { await read() }
        }
    }

    func read() async {
        guard store.store != nil else { return }
        var statuses: [AppScope: SyncStatus] = [:]
        for app in policy().syncableApps {
            let time = PollingTiming(app.environment).dueAt(forRequestAt: now())
            do throws(StoreError) {
                statuses[app] = SyncStatus(
                    recoveredUntil: try await store.recoveryCheckpoint(of: app),
                    due: try await store.countDueSubscriptions(of: app, dueBefore: time, limit: Self.maximumDue))
            } catch { continue }
        }
        metrics.update(\.syncStatus, statuses)
    }
}
