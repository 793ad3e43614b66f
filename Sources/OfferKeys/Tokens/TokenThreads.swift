import Dispatch
import Foundation
import NIOConcurrencyHelpers
package import OfferCore
import Synchronization

/// The threads of one token, a bounded queue in front of them, and a thread that ends the waiting of late jobs.
///
/// There are more threads than sessions: while some wait for signatures, others verify them.
///
/// A thread cannot be interrupted in a module. A job that is late is given up, but its thread stays in the call. While as many
/// jobs hang in such calls as there are sessions, every job fails at once.
package final class TokenThreads: SigningThreads {
    private struct State {
        var waiting: [Job] = []
        /// The job of each thread, and the time at which it began.
        var running: [Int: (job: Job, since: ContinuousClock.Instant)] = [:]
        var isClosing = false
    }

    private let state = NIOLockedValueBox(State())
    private let count: Int
    private let sessions: Int
    private let maximumWaiting: Int
    /// Signalled once for each job, and once for each thread at the end.
    private let signal = DispatchSemaphore(value: 0)
    /// Signalled when a job is added and none was outstanding.
    private let wakeSweeper = DispatchSemaphore(value: 0)

    /// The time limit of work without a deadline.
    private static let limit = Duration.seconds(1)
    /// A job that is late and has run for this time hangs. One that has just begun only waited too long.
    private static let hangingTime = Duration.milliseconds(500)
    /// The time between two looks for late jobs.
    private static let sweepInterval = 0.05

    /// - Parameters:
    ///   - sessions: the number of jobs that can be in the module at a time.
    ///   - others: the number of further threads.
    ///   - maximumWaiting: the length of the queue. Further jobs fail at once.
    package init(sessions: Int, others: Int = 0, named name: String, maximumWaiting: Int = 256) {
        count = sessions + others
        self.sessions = sessions
        self.maximumWaiting = maximumWaiting
        for number in 0..<count { Self.start("\(name)-\(number)") { self.work(number) } }
        Self.start("\(name)-late") { self.sweep() }
    }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            Thread.current.name = name
            body()
        }
    }

    package var waitingCount: Int { state.withLockedValue { $0.waiting.count } }

    package var areStuck: Bool { state.withLockedValue { isStuck($0, at: .now) } }

    package func run<Result: Sendable>(
        until deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () -> Result
    ) async throws(SigningThreadsFault) -> Result {
        let outcome: Swift.Result<Result, SigningThreadsFault> = await withCheckedContinuation { continuation in
            let settle = Once<Swift.Result<Result, SigningThreadsFault>> { continuation.resume(returning: $0) }
            let job = Job(
                until: deadline ?? .now + Self.limit, run: { settle(.success(work())) }, fail: { settle(.failure($0)) })
            add(job, isUrgent: deadline == nil)
        }
        return try outcome.get()
    }

    /// Runs `work` on one of the threads, before all that waits, and blocks the calling thread until it ends.
    package func wait<Result: Sendable>(
        within limit: Duration, _ work: @escaping @Sendable () -> Result
    ) throws(SigningThreadsFault) -> Result {
        let box = NIOLockedValueBox<Swift.Result<Result, SigningThreadsFault>>(.failure(.noAnswer))
        let done = DispatchSemaphore(value: 0)
        let settle = Once<Swift.Result<Result, SigningThreadsFault>> { result in
            box.withLockedValue { $0 = result }
            done.signal()
        }
        let job = Job(until: .now + limit, run: { settle(.success(work())) }, fail: { settle(.failure($0)) })
        add(job, isUrgent: true)
        done.wait()
        return try box.withLockedValue { $0 }.get()
    }

    /// Ends the threads after the waiting jobs.
    /// - Parameter last: called on a thread before they end.
    func close(_ last: @escaping @Sendable () -> Void) {
        state.withLockedValue { state in
            state.waiting.append(Job(until: .now + .seconds(60), run: last, fail: { _ in }))
            state.isClosing = true
        }
        for _ in 0...count { signal.signal() }
        wakeSweeper.signal()
    }

    /// - Parameter isUrgent: true for a job that runs before all that waits, however much that is.
    private func add(_ job: Job, isUrgent: Bool) {
        let (refusal, isFirst) = state.withLockedValue { state -> (SigningThreadsFault?, Bool) in
            if isStuck(state, at: .now) { return (.noAnswer, false) }
            guard isUrgent || state.waiting.count < maximumWaiting else { return (.full, false) }
            let isFirst = state.waiting.isEmpty && state.running.isEmpty
            state.waiting.insert(job, at: isUrgent ? 0 : state.waiting.count)
            return (nil, isFirst)
        }
        if let refusal { return job.fail(refusal) }
        signal.signal()
        if isFirst { wakeSweeper.signal() }
    }

    /// Returns true if no session is left, because as many jobs hang. Others hang while they wait for a session.
    private func isStuck(_ state: State, at now: ContinuousClock.Instant) -> Bool {
        state.running.count >= sessions
            && state.running.values.count { $0.job.isLate(at: now) && now - $0.since >= Self.hangingTime } >= sessions
    }

    private func work(_ number: Int) {
        while true {
            signal.wait()
            let (job, isOver) = state.withLockedValue { state -> (Job?, Bool) in
                guard !state.waiting.isEmpty else { return (nil, state.isClosing) }
                let job = state.waiting.removeFirst()
                state.running[number] = (job, .now)
                return (job, false)
            }
            if isOver { return }
            guard let job else { continue }
            if job.isLate(at: .now) { job.fail(.waitedTooLong) } else { job.run() }
            _ = state.withLockedValue { $0.running.removeValue(forKey: number) }
        }
    }

    private func sweep() {
        while true {
            wakeSweeper.wait()
            while true {
                let now = ContinuousClock.now
                let (isIdle, isOver) = state.withLockedValue {
                    ($0.waiting.isEmpty && $0.running.isEmpty, $0.isClosing)
                }
                if isIdle, isOver { return }
                if isIdle { break }
                giveUp(at: now)
                Thread.sleep(forTimeInterval: Self.sweepInterval)
            }
        }
    }

    private func giveUp(at now: ContinuousClock.Instant) {
        let (running, waiting, isStuck) = state.withLockedValue { state in
            let running = state.running.values.filter { $0.job.isLate(at: now) }
            let isStuck = self.isStuck(state, at: now)
            let waiting = state.waiting.filter { isStuck || $0.isLate(at: now) }
            if !waiting.isEmpty { state.waiting.removeAll { isStuck || $0.isLate(at: now) } }
            return (running, waiting, isStuck)
        }
        // A job that was given up ignores this.
        for (job, since) in running { job.fail(now - since >= Self.hangingTime ? .noAnswer : .waitedTooLong) }
        for job in waiting { job.fail(isStuck ? .noAnswer : .waitedTooLong) }
    }

    /// A job, whose outcome is reported once by whichever of `run` and `fail` comes first.
    private final class Job: Sendable {
        let run: @Sendable () -> Void
        let fail: @Sendable (SigningThreadsFault) -> Void
        private let deadline: ContinuousClock.Instant

        init(
            until deadline: ContinuousClock.Instant, run: @escaping @Sendable () -> Void,
            fail: @escaping @Sendable (SigningThreadsFault) -> Void
        ) {
            self.run = run
            self.fail = fail
            self.deadline = deadline
        }

        func isLate(at now: ContinuousClock.Instant) -> Bool { now >= deadline }
    }

    /// A function that only the first of several calls reaches.
    private final class Once<Value: Sendable>: Sendable {
        private let isDone = Atomic(false)
        private let body: @Sendable (Value) -> Void

        init(_ body: @escaping @Sendable (Value) -> Void) {
            self.body = body
        }

        func callAsFunction(_ value: Value) {
            if !isDone.exchange(true, ordering: .acquiringAndReleasing) { body(value) }
        }
    }
}
