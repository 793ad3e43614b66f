import AppStoreAPI
import AppStoreData
package import Logging
import NIOConcurrencyHelpers
package import OfferConfiguration
package import OfferCore
package import OfferEligibility
import OfferTelemetry
import ServiceLifecycle
import SubscriberStore

/// The service that polls subscriptions whose period, grace period or billing retry should have ended, but for which no
/// notification arrived.
///
/// The schedule is in the store: see ``NextCheck``. If many subscriptions are due at once, such as after an outage,
/// their polls are spread over time.
package struct PollingWorker: Service {
    private let refresh: SubscriptionFetch
    private let store: CurrentStore
    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp
    private let problems: SyncProblems
    private let log: Logger
    private let leases: WorkLeases
    private let memory = NIOLockedValueBox(PollingMemory())

    package init(
        _ refresh: SubscriptionFetch, store: CurrentStore, policy: @escaping @Sendable () -> Policy,
        now: @escaping @Sendable () -> Timestamp, problems: SyncProblems, log: Logger
    ) {
        self.refresh = refresh
        self.store = store
        self.policy = policy
        self.now = now
        self.problems = problems
        self.log = log
        leases = WorkLeases(SharedWork.polling, in: store)
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await AppRounds(every: .seconds(1)).run {
                policy().syncableApps
            } _: { app in
                await leases.of(app).perform { await poll(app) }
            }
        }
        await leases.release()
    }

    /// Polls the due subscriptions of one app, at most as many as are allowed in one second.
    /// - Returns: the number of subscriptions polled.
    @discardableResult
    package func poll(_ app: AppScope) async -> Int {
        let (now, timing) = (now(), PollingTiming(app.environment))
        guard store.store != nil, memory.withLockedValue({ $0.mayRequest(app, at: now) }) else { return 0 }
        let due = try? await store.claimDueSubscriptions(
            of: app, dueBefore: timing.dueAt(forRequestAt: now),
            nextDueAt: timing.dueAt(forRequestAt: now + timing.retry(after: 1)), limit: timing.rate)
        guard let due else { return 0 }
        guard !due.isEmpty else {
            problems.expire(of: app, .polling, notedBefore: now - (timing.longestRetry * 2))
            return 0
        }
        let outcomes = await withTaskGroup(of: (DueSubscription, Outcome).self) { group in
            for subscription in due { group.addTask { (subscription, await ask(about: subscription)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        return await settle(outcomes, of: app, timing, at: now)
    }

    private enum Outcome {
        case answered
        /// The App Store no longer knows the subscription.
        case unknown
        /// The request failed, but may succeed later.
        case failed(SyncError)
        /// The app cannot be polled.
        case notRequested(SyncError)
    }

    private func ask(about due: DueSubscription) async -> Outcome {
        guard let id = TransactionNumber(due.originalTransactionID) else { return .unknown }
        do throws(SyncError) {
            let facts = try await refresh.statuses(of: id, in: due.app).facts
            return facts.contains { $0.originalTransactionID == due.originalTransactionID } ? .answered : .unknown
        } catch {
            if error.isOfApp { return .notRequested(error) }
            return error.isLasting ? .unknown : .failed(error)
        }
    }

    /// - Returns: the number of subscriptions polled.
    private func settle(
        _ outcomes: [(due: DueSubscription, outcome: Outcome)], of app: AppScope, _ timing: PollingTiming,
        at now: Timestamp
    ) async -> Int {
        var settled: [SettledClaim] = []
        var failures: [SyncError] = []
        var block: SyncError?
        memory.withLockedValue { memory in
            for (due, outcome) in outcomes {
                switch outcome {
                case .answered, .failed:
                    // An answer without newer data counts too.
                    let count = memory.failedRequests(about: due) + 1
                    var next: Timestamp? = timing.dueAt(forRequestAt: now + timing.retry(after: count))
                    if case .failed(let failure) = outcome {
                        failures.append(failure)
                        if failure.isOfData, count >= timing.refusals { next = nil }
                    }
                    if next != due.nextDueAt { settled.append(SettledClaim(due, dueAt: next)) }
                    memory.note(attempts: count, about: due, nextDueAt: next)
                case .unknown: settled.append(SettledClaim(due, dueAt: nil))
                case .notRequested(let failure):
                    settled.append(SettledClaim(due, dueAt: due.dueAt))
                    block = failure
                }
            }
            memory.note(block, of: app, at: now)
        }
        report(outcomes, block ?? failures.first, of: app)
        let claims = settled
        if !claims.isEmpty {
            try? await store.settle(claims)
        }
        return outcomes.count { if case .notRequested = $0.outcome { false } else { true } }
    }

    private func report(
        _ outcomes: [(due: DueSubscription, outcome: Outcome)], _ failure: SyncError?, of app: AppScope
    ) {
        let unknown = outcomes.count { if case .unknown = $0.outcome { true } else { false } }
        if unknown > 0 {
            log.info(
                "the App Store does not know some subscriptions",
                metadata: [
                    "app": "\(app.bundleID.text)", "environment": "\(app.environment.rawValue)", "count": "\(unknown)",
                ])
        }
        if let failure {
            problems.note(failure, of: app, .polling)
        } else {
            problems.clear(of: app, .polling)
        }
    }
}

extension SyncError {
    /// True if every request about the app would fail now, for any subscription.
    fileprivate var isOfApp: Bool {
        switch self {
        case .api(.limited), .api(.paused), .api(.unauthorised), .api(.noToken), .api(.noServer), .store: true
        case .api(.refused(let code)): code.isOfApp
        case .api, .data: false
        }
    }

    /// True if the same request would get the same answer.
    fileprivate var isLasting: Bool { if case .api(.refused(let code)) = self { !code.isRetryable } else { false } }

    /// True if the answer itself is invalid.
    fileprivate var isOfData: Bool {
        switch self {
        case .data(let refusal): !refusal.isRetryable
        case .api(.unreadable): true
        case .api, .store: false
        }
    }
}
