import AppStoreAPI
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

/// The poller's memory of requests that brought nothing new. Losing it does no harm.
struct PollingMemory {
    private struct Subscription: Hashable {
        let app: AppScope
        let original: TransactionID
    }

    private struct Attempts {
        let count: Int
        /// The time of the next check, unless newer data arrives.
        let dueAt: Timestamp
    }

    private struct Block {
        let count: Int
        let until: Timestamp
    }

    private var attempts: [Subscription: Attempts] = [:]
    private var blocks: [AppScope: Block] = [:]

    private static let maximumRemembered = 10_000
    private static let firstBlock = Duration.seconds(5)
    private static let longestBlock = Duration.seconds(300)

    func mayRequest(_ app: AppScope, at now: Timestamp) -> Bool { blocks[app].map { $0.until <= now } ?? true }

    /// Returns the number of consecutive requests about a subscription that brought nothing new.
    func failedRequests(about due: DueSubscription) -> Int {
        let known = attempts[Subscription(app: due.app, original: due.originalTransactionID)]
        return known?.dueAt == due.dueAt ? known?.count ?? 0 : 0
    }

    /// - Parameter time: the time of the next check, unless newer data arrives; nil for never.
    mutating func note(attempts count: Int, about due: DueSubscription, nextDueAt time: Timestamp?) {
        if attempts.count >= Self.maximumRemembered { attempts = [:] }
        attempts[Subscription(app: due.app, original: due.originalTransactionID)] = time.map {
            Attempts(count: count, dueAt: $0)
        }
    }

    /// - Parameter failure: the reason the app cannot be polled; nil if it can.
    mutating func note(_ failure: SyncError?, of app: AppScope, at now: Timestamp) {
        guard let failure else { return blocks[app] = nil }
        let count = (blocks[app]?.count ?? 0) + 1
        var until = now + min(Self.longestBlock, Self.firstBlock * (1 << min(count - 1, 10)))
        if case .api(.limited(let time)) = failure { until = max(now, time) }
        blocks[app] = Block(count: count, until: until)
    }
}
