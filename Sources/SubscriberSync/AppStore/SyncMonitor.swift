import OfferConfiguration
import OfferCore
import OfferEligibility
import ServiceLifecycle
import SubscriberStore

/// The service that reads the figures about requests to the App Store, in every process that uses the database.
struct SyncMonitor: Service {
    let store: CurrentStore
    let policy: @Sendable () -> Policy
    let now: @Sendable () -> Timestamp

    /// The count stops at this number.
    private static let maximumDue = 100_000

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await read() } while (try? await Task.sleep(for: .seconds(15))) != nil
        }
    }

    func read() async {
        guard store.store != nil else { return }
        var figures: [AppScope: SyncStatus] = [:]
        for app in policy().syncableApps {
            let time = PollingTiming(app.environment).dueAt(forRequestAt: now())
            figures[app] = try? await store.read { store async throws(StoreError) in
                SyncStatus(
                    recoveredUntil: try await store.recoveryCheckpoint(of: app),
                    due: try await store.countDueSubscriptions(of: app, dueBefore: time, limit: Self.maximumDue))
            }
        }
        store.syncStatus = figures
    }
}
