import CProcess
import NIOCore
import NIOPosix
import OfferHTTP
package import SubscriberStore
import Synchronization

/// Threads for long computations that must not delay offers.
///
/// They run only on cores that no event loop needs (SCHED_IDLE, sched(7)). Ordinary threads would take a share of the
/// cores even while offers wait.
package final class BackgroundThreads: Sendable {
    /// The shared threads: half as many as there are cores, but at least one.
    package static let shared = BackgroundThreads(count: max(1, UsableCores.count / 2))

    private let group: MultiThreadedEventLoopGroup
    private let reader: MultiThreadedEventLoopGroup

    private init(count: Int) {
        group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        for loop in group.makeIterator() { loop.execute { _ = offer_run_only_when_idle() } }
        reader = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        reader.next().execute { _ = offer_run_after_others() }
    }

    /// For tasks whose parts are short, such as a trial of rules that decides about a page of customers at a time.
    ///
    /// The pages are read by one more thread, which gets a tenth of a core even while offers wait (setpriority(2)): a read
    /// that is not over keeps SQLite from moving its log, and may hold a lock that others need.
    package var reading: BackgroundReading {
        BackgroundReading(
            executor: LoopExecutor(loop: group.next()), readers: LoopExecutor(loop: reader.next()))
    }

    /// Runs `work` when a thread is free.
    /// - Returns: the result of the work; nil if no thread was free within `limit`, or if the task was cancelled before
    ///   the work began. The thread then skips the work, because newer requests are waiting, and the result would be
    ///   too late.
    package func run<Result: Sendable>(
        within limit: Duration, _ work: @escaping @Sendable () -> Result
    ) async -> Result? {
        let deadline = ContinuousClock.now + limit
        let isCancelled = Atomic(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                group.next().execute {
                    let isDue = !isCancelled.load(ordering: .relaxed) && ContinuousClock.now < deadline
                    continuation.resume(returning: isDue ? work() : nil)
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }
}

/// An executor that runs tasks on one of the threads.
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
