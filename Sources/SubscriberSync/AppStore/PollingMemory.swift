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

    private struct Question {
        let count: Int
        /// The next check, unless newer data arrives.
        let dueAt: Timestamp
    }

    private struct Block {
        let count: Int
        let until: Timestamp
    }

    private var questions: [Subscription: Question] = [:]
    private var blocks: [AppScope: Block] = [:]

    private static let maximumQuestions = 10_000
    private static let firstBlock = Duration.seconds(5)
    private static let longestBlock = Duration.seconds(300)

    func mayAsk(_ app: AppScope, at now: Timestamp) -> Bool { blocks[app].map { $0.until <= now } ?? true }

    /// The number of consecutive requests about a subscription that brought nothing new.
    func questionsInVain(about due: DueSubscription) -> Int {
        let known = questions[Subscription(app: due.app, original: due.originalTransactionID)]
        return known?.dueAt == due.dueAt ? known?.count ?? 0 : 0
    }

    /// - Parameter time: the next check, unless newer data arrives; nil for never.
    mutating func note(questions count: Int, about due: DueSubscription, nextDueAt time: Timestamp?) {
        if questions.count >= Self.maximumQuestions { questions = [:] }
        questions[Subscription(app: due.app, original: due.originalTransactionID)] = time.map {
            Question(count: count, dueAt: $0)
        }
    }

    /// - Parameter failure: the reason the app cannot be polled; nil if it can.
    mutating func note(_ failure: AskingFailure?, of app: AppScope, at now: Timestamp) {
        guard let failure else { return blocks[app] = nil }
        let count = (blocks[app]?.count ?? 0) + 1
        var until = now + min(Self.longestBlock, Self.firstBlock * (1 << min(count - 1, 10)))
        if case .api(.limited(let time)) = failure { until = max(now, time) }
        blocks[app] = Block(count: count, until: until)
    }
}
