import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Threads on which tasks may wait for the disk, which those of Swift's own pool must not.
///
/// A task that prefers them, as ``SubscriberStore/executor`` says, reads without a change of threads. A thread is started when all
/// others are busy, and ends when nothing has come for a while.
final class BlockingThreads: TaskExecutor {
    private struct State {
        /// The oldest first.
        var jobs: [UnownedJob] = []
        var threads = 0
        /// The threads that wait for a job and have not been woken.
        var idle = 0
    }

    private let name: String
    private let maximum: Int
    private let patience: DispatchTimeInterval
    private let state = NIOLockedValueBox(State())
    /// Raised once for each idle thread that is woken.
    private let wakeUp = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - maximum: the number of threads.
    ///   - patience: how long a thread waits for a task before it ends.
    init(named name: String, maximum: Int, patience: DispatchTimeInterval = .seconds(10)) {
        self.name = name
        self.maximum = maximum
        self.patience = patience
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enum Need { case nothing, wakeUp, thread }
        let need = state.withLockedValue { state -> Need in
            state.jobs.append(job)
            if state.idle > 0 {
                state.idle -= 1
                return .wakeUp
            }
            guard state.threads < maximum else { return .nothing }
            state.threads += 1
            return .thread
        }
        switch need {
        case .nothing: break
        case .wakeUp: wakeUp.signal()
        case .thread:
            Thread.detachNewThread {
                Thread.current.name = self.name
                self.work()
            }
        }
    }

    private func work() {
        while true {
            while let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            guard wakeUp.wait(timeout: .now() + patience) == .timedOut else { continue }
            let isOver = state.withLockedValue { state in
                // If no thread is left to be woken, this one has been, just now.
                guard state.idle > 0 else { return false }
                state.idle -= 1
                state.threads -= 1
                return true
            }
            if isOver { return }
            wakeUp.wait()
        }
    }

    /// - Returns: nil if there is none. The thread then counts as idle.
    private func next() -> UnownedJob? {
        state.withLockedValue { state in
            guard !state.jobs.isEmpty else {
                state.idle += 1
                return nil
            }
            return state.jobs.removeFirst()
        }
    }
}
