import AppStoreAPI
import Logging
import OfferCore
import OfferTelemetry
import ServiceLifecycle
import SubscriberStore

/// The service that asks about subscriptions whose period, grace or billing retry should have ended without a word from the
/// App Store.
///
/// The schedule is in the store: see ``NextCheck``. What is due at once, such as after an outage, is spread over time.
struct PollingWorker: Service {
    private let refresh: SubscriberRefresh
    private let store: CurrentStore
    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp
    private let problems: AskingProblems
    private let log: Logger
    private let leases: WorkLeases

    /// A subscription whose question failed is due again after this time.
    private static let lease = Duration.hours(1)

    init(
        _ refresh: SubscriberRefresh, store: CurrentStore, policy: @escaping @Sendable () -> Policy,
        now: @escaping @Sendable () -> Timestamp, problems: AskingProblems, log: Logger
    ) {
        self.refresh = refresh
        self.store = store
        self.policy = policy
        self.now = now
        self.problems = problems
        self.log = log
        leases = WorkLeases(SharedWork.polling, in: store)
    }

    /// How long after an end the App Store's notification is awaited, in milliseconds. Production sends most within minutes,
    /// but up to an hour later.
    private static func tolerance(in environment: AppStoreEnvironment) -> Int64 {
        environment == .production ? 4_500_000 : 60_000
    }

    /// The questions in a second: less than half of Apple's limit, so that requests can ask too.
    private static func rate(in environment: AppStoreEnvironment) -> Int { environment == .production ? 20 : 2 }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat {
                for app in policy().askedApps where !Task.isCancelled {
                    await leases.of(app).perform { await poll(app) }
                }
            } while (try? await Task.sleep(for: .seconds(1))) != nil
        }
        await leases.release()
    }

    /// Asks about what is due for one app, for one second's worth.
    /// - Returns: how many subscriptions it has asked about.
    @discardableResult
    func poll(_ app: AppScope) async -> Int {
        guard store.works else { return 0 }
        let now = now()
        let due = try? await store.write { store throws(StoreError) in
            try await store.claimDueSubscriptions(
                of: app, dueBefore: Timestamp(milliseconds: now.milliseconds - Self.tolerance(in: app.environment)),
                leaseEnd: now + Self.lease, limit: Self.rate(in: app.environment))
        }
        guard let due else { return 0 }
        await withDiscardingTaskGroup { group in
            for subscription in due { group.addTask { await ask(about: subscription) } }
        }
        return due.count
    }

    private func ask(about due: DueSubscription) async {
        guard let id = TransactionNumber(due.originalTransactionID) else { return await giveUp(due) }
        do throws(AskingFailure) {
            try await refresh.statuses(of: id, in: due.app)
            problems.clear(of: due.app, .polling)
        } catch {
            guard error.isNotFound else { return problems.note(error, of: due.app, .polling) }
            await giveUp(due)
        }
    }

    private func giveUp(_ due: DueSubscription) async {
        log.info("the App Store does not know a subscription", metadata: ["app": "\(due.app.bundleID.text)"])
        try? await store.write { store throws(StoreError) in
            try await store.giveUpChecking(due.originalTransactionID, of: due.app)
        }
    }
}
