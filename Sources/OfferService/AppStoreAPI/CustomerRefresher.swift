import AppStoreAPI
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import OfferCore
import ServiceLifecycle

/// Asks the App Store about customers whom the store does not know, while a request waits for a moment.
///
/// Requests about one customer share one question. A request that stops waiting does not end it, so a later request knows
/// the answer.
final class CustomerRefresher: Service {
    private typealias Key = CustomerQuestion.Key

    private struct State {
        var waiting: [Key: [Waiter]] = [:]
        /// When a customer was asked about last.
        var asked: [Key: NIODeadline] = [:]
    }

    private let refresh: SubscriberRefresh
    private let receipts: ReceiptRefresh
    private let log: Logger
    private let state = NIOLockedValueBox(State())
    private let questions: AsyncStream<CustomerQuestion>
    private let question: AsyncStream<CustomerQuestion>.Continuation

    /// Further questions are dropped.
    private static let maximumWaiting = 256
    private static let concurrency = 16
    /// For how long the App Store is not asked again about one customer.
    private static let pause = TimeAmount.seconds(60)
    private static let maximumRemembered = 10_000
    /// How long a request waits.
    static let patience = Duration.milliseconds(800)
    private static let timeLimit = TimeAmount.seconds(30)

    init(_ refresh: SubscriberRefresh, receipts: ReceiptRefresh, log: Logger) {
        self.refresh = refresh
        self.receipts = receipts
        self.log = log
        (questions, question) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                for _ in 0..<Self.concurrency {
                    group.addTask { [self] in for await question in questions { await ask(question) } }
                }
            }
        }
        question.finish()
        for key in state.withLockedValue({ Array($0.waiting.keys) }) { answer(key, false) }
    }

    /// Asks about a customer and waits for a moment.
    /// - Returns: whether the store has learnt something. False after `duration` too.
    func refresh(_ question: CustomerQuestion, within duration: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(continuation)
            guard add(waiter, to: question) else { return waiter.resume(false) }
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(duration)) { waiter.resume(false) }
        }
    }

    /// Asks about a customer in the background, so that a later request knows.
    func refreshLater(_ question: CustomerQuestion) { _ = add(nil, to: question) }

    /// - Returns: false if the App Store is not asked.
    private func add(_ waiter: Waiter?, to question: CustomerQuestion) -> Bool {
        let key = question.key
        return state.withLockedValue { state in
            let waiters = waiter.map { [$0] } ?? []
            if state.waiting[key] != nil {
                state.waiting[key]?.append(contentsOf: waiters)
                return true
            }
            let now = NIODeadline.now()
            if let asked = state.asked[key], now < asked + Self.pause { return false }
            guard case .enqueued = self.question.yield(question) else { return false }
            state.waiting[key] = waiters
            if state.asked.count >= Self.maximumRemembered {
                state.asked = state.asked.filter { now < $0.value + Self.pause }
            }
            if state.asked.count < Self.maximumRemembered { state.asked[key] = now }
            return true
        }
    }

    private func ask(_ question: CustomerQuestion) async {
        let (app, id, deadline) = (question.key.app, question.key.id, NIODeadline.now() + Self.timeLimit)
        do throws(AskingFailure) {
            let statuses = try await refresh.statuses(of: id, in: app, by: deadline)
            let history = try await refresh.history(of: id, in: app, by: deadline)
            answer(question.key, !statuses.isEmpty || !history.isEmpty)
        } catch {
            log.debug("the App Store was asked about a customer in vain", metadata: ["reason": "\(error)"])
            answer(question.key, await askReceiptService(question, by: deadline))
        }
    }

    private func askReceiptService(_ question: CustomerQuestion, by deadline: NIODeadline) async -> Bool {
        guard let receipt = question.receipt else { return false }
        do throws(ReceiptRefresh.Failure) {
            return try await !receipts.refresh(receipt, of: question.key.app, by: deadline).isEmpty
        } catch {
            log.debug("the receipt service was asked in vain", metadata: ["reason": "\(error)"])
            return false
        }
    }

    private func answer(_ key: Key, _ hasLearnt: Bool) {
        for waiter in state.withLockedValue({ $0.waiting.removeValue(forKey: key) ?? [] }) { waiter.resume(hasLearnt) }
    }
}

/// A request that waits until the App Store has answered, or until it no longer wants to.
private final class Waiter: Sendable {
    private let continuation: NIOLockedValueBox<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) {
        self.continuation = NIOLockedValueBox(continuation)
    }

    /// Only the first call counts.
    func resume(_ hasLearnt: Bool) {
        continuation.withLockedValue { continuation in
            defer { continuation = nil }
            return continuation
        }?.resume(returning: hasLearnt)
    }
}
