import Dispatch
import NIOConcurrencyHelpers

/// Threads on which tasks may wait for the disk, because tasks in Swift's own pool must not block.
///
/// A task that prefers these threads through ``SubscriberStore/executor`` reads without switching threads. Dispatch
/// starts a thread when needed, and ends it after some time without work.
final class BlockingThreads: TaskExecutor {
    private struct State {
        /// The waiting jobs, oldest first.
        var jobs: [UnownedJob] = []
        /// The queues of idle threads.
        var idle: [DispatchQueue]
    }

    private let state: NIOLockedValueBox<State>

    /// - Parameter maximum: the maximum number of threads.
    init(named name: String, maximum: Int) {
        state = NIOLockedValueBox(State(idle: (1...maximum).map { DispatchQueue(label: "\(name)-\($0)") }))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let idle = state.withLockedValue { state in
            state.jobs.append(job)
            return state.idle.popLast()
        }
        // If no thread is idle, the first thread that finishes its job takes this one.
        if let idle { idle.async { self.work(on: idle) } }
    }

    private func work(on queue: DispatchQueue) {
        while let job = next(for: queue) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// - Returns: nil if no job is waiting. The queue then becomes idle.
    private func next(for queue: DispatchQueue) -> UnownedJob? {
        state.withLockedValue { state in
            guard !state.jobs.isEmpty else {
                state.idle.append(queue)
                return nil
            }
            return state.jobs.removeFirst()
        }
    }
}
