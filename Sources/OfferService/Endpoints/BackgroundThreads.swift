import CProcess
import NIOCore
import NIOPosix
import OfferHTTP
import Synchronization

/// Threads for long computations that must not delay offers.
///
/// They get a processor only when no event loop needs it (SCHED_IDLE, sched(7)), because an ordinary thread would take its
/// share of the cores even while offers are waiting.
final class BackgroundThreads: Sendable {
    /// Half as many threads as there are cores.
    static let shared = BackgroundThreads(count: max(1, UsableCores.count / 2))

    private let group: MultiThreadedEventLoopGroup

    private init(count: Int) {
        group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        for loop in group.makeIterator() { loop.execute { _ = offer_run_only_when_idle() } }
    }

    /// Runs `work` when a thread is free.
    /// - Returns: nil if no thread was free within `limit`, or if the task was cancelled before. The thread then skips the
    ///   work, so that it never computes results that come too late while newer requests wait.
    func run<Result: Sendable>(
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
