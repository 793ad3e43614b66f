package import AppStoreAPI
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import OfferConfiguration
package import OfferCore
package import OfferEligibility
import OfferHTTP
import ServiceLifecycle

/// The queue of customers to refresh from the App Store because the store does not know them or has old data. Requests
/// about them wait briefly.
///
/// Requests about one customer share one refresh. The refresh continues after a request stops waiting, so a later
/// request gets the answer.
package final class RefreshQueue: Service {
    private typealias Key = RefreshRequest.Key

    /// The result of waiting for a refresh.
    package enum Outcome: Hashable {
        /// There was nothing to refresh.
        case notNeeded
        /// The App Store gave a complete answer within the last minute. `hasNews` is true if it contained facts.
        case answered(hasNews: Bool)
        /// The App Store did not answer in time, or failed, so the stored data may be incomplete.
        case unanswered
    }

    private struct Asked {
        let at: NIODeadline
        /// True if the App Store answered, false if the refresh failed; nil while it runs.
        var isAnswered: Bool?
        /// True if the App Store knows the customer but no purchases of theirs.
        var isEmpty = false
    }

    private struct State {
        var waiting: [Key: [Waiter]] = [:]
        var asked: [Key: Asked] = [:]
    }

    private let refresh: SubscriptionFetch
    private let receipts: ReceiptFetch
    private let problems: SyncProblems
    private let log: Logger
    /// The maximum time that a request waits.
    private let patience: Duration
    private let state = NIOLockedValueBox(State())
    private let unproven = RateLimiter<AppScope>()
    private let requests: AsyncStream<RefreshRequest>
    private let request: AsyncStream<RefreshRequest>.Continuation

    /// The maximum number of waiting refreshes. Further refreshes are dropped.
    private static let maximumWaiting = 256
    private static let concurrency = 16
    /// The minimum time between two refreshes of one customer.
    private static let pause = TimeAmount.seconds(60)
    private static let maximumRemembered = 10_000
    /// The limit on refreshes by unproven transactions, for each app and environment. Each refresh takes two requests,
    /// so most of the requests that Apple allows per second remain for polling.
    private static let unprovenLimit = RateLimit(perSecond: 0.5, burst: 10)
    /// The time limit for the App Store Server API, and separately for the receipt service.
    private static let timeLimit = TimeAmount.seconds(30)

    /// - Parameter patience: the maximum time that a request waits.
    package init(
        _ refresh: SubscriptionFetch, receipts: ReceiptFetch, patience: Duration, problems: SyncProblems,
        log: Logger
    ) {
        self.refresh = refresh
        self.receipts = receipts
        self.patience = patience
        self.problems = problems
        self.log = log
        (requests, request) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                for _ in 0..<Self.concurrency {
                    group.addTask { [self] in for await request in requests { await ask(request) } }
                }
            }
        }
        request.finish()
        for key in state.withLockedValue({ Array($0.waiting.keys) }) { answer(key, .unanswered) }
    }

    /// Refreshes customers one after another, and waits up to ``patience`` in total.
    /// - Parameter isOver: returns true if an outcome makes the remaining refreshes unnecessary.
    package func refresh(
        _ requests: [RefreshRequest], until isOver: (Outcome) -> Bool = { _ in false }
    ) async -> Outcome {
        let began = ContinuousClock.now
        var whole = Outcome.notNeeded
        for request in requests {
            let rest = patience - (ContinuousClock.now - began)
            let outcome = rest > .zero ? await refresh(request, within: rest) : .unanswered
            whole = whole.and(outcome)
            if isOver(outcome) { return outcome }
        }
        return whole
    }

    /// Refreshes a customer and waits for up to `duration`.
    private func refresh(_ request: RefreshRequest, within duration: Duration) async -> Outcome {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(continuation)
            if let known = add(waiter, to: request) { return waiter.resume(known) }
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(duration)) {
                waiter.resume(.unanswered)
            }
        }
    }

    /// Requests the transactions of an order, without waiting in the queue.
    /// - Returns: the subscription or purchase of the order; nil if the app has no such order.
    package func purchase(ofOrder number: OrderNumber, in app: AppScope) async throws(SyncError) -> TransactionID? {
        try await refresh.transactions(ofOrder: number, in: app, by: .now() + Self.timeLimit)
            .facts.map(\.originalTransactionID).min { $0.precedes($1) }
    }

    /// Returns true if the App Store answered within the last minute that a customer has no purchases. The store has no
    /// data about such a customer.
    package func saysEmpty(_ id: TransactionID, in app: AppScope) -> Bool {
        guard let key = RefreshRequest(id, in: app)?.key else { return false }
        return state.withLockedValue { state in
            state.asked[key].map { $0.isEmpty && NIODeadline.now() < $0.at + Self.pause } ?? false
        }
    }

    /// Refreshes a customer in the background, so that a later request finds the data.
    package func refreshLater(_ request: RefreshRequest) { _ = add(nil, to: request) }

    /// - Returns: nil if a refresh is under way; otherwise the outcome known without one.
    private func add(_ waiter: Waiter?, to request: RefreshRequest) -> Outcome? {
        let key = request.key
        return state.withLockedValue { state in
            let waiters = waiter.map { [$0] } ?? []
            if state.waiting[key] != nil {
                state.waiting[key]?.append(contentsOf: waiters)
                return nil
            }
            let now = NIODeadline.now()
            if let asked = state.asked[key], now < asked.at + Self.pause {
                return asked.isAnswered == true ? .answered(hasNews: false) : .unanswered
            }
            if request.isUnproven, let limit = Self.unprovenLimit,
                unproven.take(key.app, limit: limit, now: now) != nil
            {
                return .unanswered
            }
            guard case .enqueued = self.request.yield(request) else { return .unanswered }
            state.waiting[key] = waiters
            if state.asked.count >= Self.maximumRemembered {
                state.asked = state.asked.filter { now < $0.value.at + Self.pause }
            }
            if state.asked.count < Self.maximumRemembered { state.asked[key] = Asked(at: now) }
            return nil
        }
    }

    private func ask(_ request: RefreshRequest) async {
        let (app, id, deadline) = (request.key.app, request.key.id, NIODeadline.now() + Self.timeLimit)
        do throws(SyncError) {
            let statuses = try await refresh.statuses(of: id, in: app, by: deadline)
            let history = try await refresh.history(of: id, in: app, by: deadline)
            let isWhole = statuses.isWhole && history.isWhole
            let hasNews = !statuses.facts.isEmpty || !history.facts.isEmpty
            answer(
                request.key, isWhole ? .answered(hasNews: hasNews) : .unanswered,
                isEmpty: statuses.isEmpty && history.isEmpty)
        } catch {
            log.debug("refreshing a customer from the App Store failed", metadata: ["reason": "\(error)"])
            answer(
                request.key,
                await queryReceiptService(request) ?? (error.isNotFound ? .answered(hasNews: false) : .unanswered))
        }
    }

    /// Sends the receipt to the receipt service. The time limit starts again, because the App Store Server API may have
    /// timed out.
    /// - Returns: nil if there is no answer.
    private func queryReceiptService(_ request: RefreshRequest) async -> Outcome? {
        guard let receipt = request.receipt else { return nil }
        let app = request.key.app
        do throws(ReceiptFetch.Failure) {
            let facts = try await receipts.refresh(receipt, of: app, by: .now() + Self.timeLimit)
            problems.clear(of: app, .receipts)
            return .answered(hasNews: !facts.isEmpty)
        } catch {
            log.debug("fetching from the receipt service failed", metadata: ["reason": "\(error)"])
            if let problem = error.problem { problems.note(problem, of: app, .receipts) }
            return nil
        }
    }

    private func answer(_ key: Key, _ outcome: Outcome, isEmpty: Bool = false) {
        let waiters = state.withLockedValue { state in
            state.asked[key]?.isEmpty = isEmpty
            state.asked[key]?.isAnswered = outcome != .unanswered
            return state.waiting.removeValue(forKey: key) ?? []
        }
        for waiter in waiters { waiter.resume(outcome) }
    }
}

extension RefreshQueue.Outcome {
    /// Returns the combined outcome of two refreshes.
    fileprivate func and(_ other: Self) -> Self {
        switch (self, other) {
        case (.notNeeded, let outcome), (let outcome, .notNeeded): outcome
        case (.unanswered, _), (_, .unanswered): .unanswered
        case (.answered(let one), .answered(let another)): .answered(hasNews: one || another)
        }
    }
}

/// A request that waits for the App Store's answer, or until its own time limit.
private final class Waiter: Sendable {
    private let continuation: NIOLockedValueBox<CheckedContinuation<RefreshQueue.Outcome, Never>?>

    init(_ continuation: CheckedContinuation<RefreshQueue.Outcome, Never>) {
        self.continuation = NIOLockedValueBox(continuation)
    }

    /// Resumes the request. Only the first call has an effect.
    func resume(_ outcome: RefreshQueue.Outcome) {
        continuation.withLockedValue { continuation in
            defer { continuation = nil }
            return continuation
        }?.resume(returning: outcome)
    }
}
