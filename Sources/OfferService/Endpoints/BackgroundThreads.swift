import CProcess
import NIOCore
import NIOPosix
import OfferHTTP
import Synchronization

/// Threads for long computations that must not delay offers.
///
/// They run only on cores that no event loop needs (SCHED_IDLE, sched(7)). Ordinary threads would take a share of the
/// cores even while offers wait.
package final class BackgroundThreads: Sendable {
    /// The shared threads: half as many as there are cores, but at least one.
    package static let shared = BackgroundThreads(count: max(1, UsableCores.count / 2))

    private let group: MultiThreadedEventLoopGroup

    private init(count: Int) {
        group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        for loop in group.makeIterator() { loop.execute { _ = offer_run_only_when_idle() } }
    }

    /// An executor for tasks whose parts are short, such as a trial of rules that reads a page of customers at a time and
    /// decides about it.
    package var executor: any TaskExecutor { IdleExecutor(loop: group.next()) }

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
private final class IdleExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
