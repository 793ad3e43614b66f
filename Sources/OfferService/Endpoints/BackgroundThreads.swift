import CProcess
import NIOCore
import NIOPosix
import OfferHTTP

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
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            group.next().execute { continuation.resume(returning: work()) }
        }
    }
}
