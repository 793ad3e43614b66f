import Dispatch
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferPostgreSQL

/// A job for a connection.
protocol PostgreSQLJob: Sendable {
    /// The time at which the job began to wait.
    var added: ContinuousClock.Instant { get }
    /// Reports that the job was not done, or that its outcome is unknown.
    func fail(_ error: StoreError)
}

/// Jobs whose connection broke while they ran.
struct InterruptedJobs<Job: PostgreSQLJob> {
    let jobs: [Job]
    let error: StoreError
}

/// Threads that each have a connection and run jobs one after the other.
///
/// If a connection breaks during a job, the job runs once more on another connection, so running a job twice must give
/// the same result. While the server is down, all other jobs fail at once instead of each waiting for the server.
final class PostgreSQLWorkers<Job: PostgreSQLJob>: Sendable {
    /// A function that removes and returns the next jobs. Its argument is the waiting jobs, oldest first.
    typealias Choose = @Sendable (inout [Job]) -> [Job]
    /// A function that runs jobs on a connection and reports their results. It returns the jobs whose connection broke.
    typealias Run = @Sendable ([Job], PostgreSQLConnection) -> InterruptedJobs<Job>?

    private struct State {
        var waiting: [Job] = []
        var isClosing = false
    }

    private let choose: Choose
    private let run: Run
    private let state = NIOLockedValueBox(State())
    /// Signalled once for each job, and once for each thread when the workers close.
    private let signal = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let count: Int
    private let gate: ConnectionGate

    /// The maximum length of the queue. Requests in a longer queue would exceed their time limit.
    private static var maximumWaiting: Int { 4096 }
    /// The time limit of a request, after which its job fails.
    private static var patience: Duration { .seconds(5) }

    init(
        _ count: Int, named name: String, through gate: ConnectionGate, choose: @escaping Choose, run: @escaping Run
    ) {
        self.count = count
        self.gate = gate
        self.choose = choose
        self.run = run
        for number in 1...count {
            Thread.detachNewThread {
                Thread.current.name = "\(name)-\(number)"
                self.work()
            }
        }
    }

    func add(_ job: Job) {
        let refusal: StoreError? = state.withLockedValue { state in
            if state.isClosing { return StoreError(.unreachable, "the store is closed") }
            if state.waiting.count >= Self.maximumWaiting {
                return StoreError(.busy, "too many requests are waiting for the database")
            }
            state.waiting.append(job)
            return nil
        }
        if let refusal { return job.fail(refusal) }
        signal.signal()
    }

    /// Waits until all added jobs are done, and closes the connections.
    func close() {
        let wasClosing = state.withLockedValue { state in
            defer { state.isClosing = true }
            return state.isClosing
        }
        guard !wasClosing else { return }
        for _ in 0..<count { signal.signal() }
        for _ in 0..<count { ended.wait() }
    }

    private func work() {
        var connection: PostgreSQLConnection?
        while let jobs = next() {
            let fresh = jobs.filter { $0.added >= .now - Self.patience }
            for job in jobs where job.added < .now - Self.patience {
                job.fail(StoreError(.busy, "the request waited too long for the database"))
            }
            if !fresh.isEmpty { finish(fresh, on: &connection) }
        }
        ended.signal()
    }

    private func finish(_ jobs: [Job], on connection: inout PostgreSQLConnection?) {
        do throws(StoreError) {
            if connection == nil { connection = try gate.connect() }
            guard let first = connection else { return }
            guard let interrupted = runCounted(jobs, first) else { return }
            connection = nil
            guard let another = reconnect(for: interrupted.jobs) else {
                for job in interrupted.jobs { job.fail(interrupted.error) }
                return
            }
            let stillInterrupted = runCounted(interrupted.jobs, another)
            connection = stillInterrupted == nil ? another : nil
            for job in stillInterrupted?.jobs ?? [] { job.fail(stillInterrupted?.error ?? interrupted.error) }
        } catch {
            for job in jobs { job.fail(error) }
        }
    }

    private func runCounted(_ jobs: [Job], _ connection: PostgreSQLConnection) -> InterruptedJobs<Job>? {
        let before = connection.roundTrips
        defer { gate.add(roundTrips: connection.roundTrips - before) }
        return run(jobs, connection)
    }

    /// Connects again, with retries until the oldest request reaches its time limit.
    private func reconnect(for jobs: [Job]) -> PostgreSQLConnection? {
        let end = (jobs.map(\.added).min() ?? .now) + Self.patience
        while ContinuousClock.now < end {
            do { return try gate.connect() } catch { Thread.sleep(forTimeInterval: 0.1) }
        }
        return nil
    }

    /// Waits for jobs. Returns nil when the workers close.
    private func next() -> [Job]? {
        while true {
            signal.wait()
            let (jobs, isOver) = state.withLockedValue { state in
                (choose(&state.waiting), state.isClosing && state.waiting.isEmpty)
            }
            if !jobs.isEmpty { return jobs }
            if isOver { return nil }
        }
    }
}

/// The gate that opens a store's connections and counts their round trips. It pauses after a failure, so that not every
/// job waits for a server that is down.
final class ConnectionGate: Sendable {
    private let server: PostgreSQLServer
    private let failure = NIOLockedValueBox<(error: StoreError, until: ContinuousClock.Instant)?>(nil)
    private let counted = NIOLockedValueBox(0)

    private static let pause = Duration.milliseconds(500)

    init(to server: PostgreSQLServer) {
        self.server = server
    }

    var roundTrips: Int { counted.withLockedValue { $0 } }

    func add(roundTrips: Int) { counted.withLockedValue { $0 += roundTrips } }

    func connect() throws(StoreError) -> PostgreSQLConnection {
        if let last = failure.withLockedValue({ $0 }), ContinuousClock.now < last.until { throw last.error }
        do {
            let connection = try PostgreSQLConnection.open(server)
            failure.withLockedValue { $0 = nil }
            return connection
        } catch {
            failure.withLockedValue { $0 = (error, .now + Self.pause) }
            throw error
        }
    }
}

extension PostgreSQLConnection {
    /// The client's time limit for a statement. The server's limit is slightly shorter.
    private static let timeout = Duration.seconds(6)

    /// Connects and applies the settings that must not depend on the role or database.
    static func open(
        _ server: PostgreSQLServer, timeout: Duration = timeout
    ) throws(StoreError) -> PostgreSQLConnection {
        do {
            let connection = try PostgreSQLConnection(to: server, timeout: timeout)
            try connection.run(
                """
                SELECT pg_catalog.set_config('search_path', '\(PostgreSQLSchema.name)', false);
                SET statement_timeout = 5000;
                SET lock_timeout = 5000;
                SET idle_in_transaction_session_timeout = 10000;
                SET default_transaction_isolation = 'read committed';
                SET standard_conforming_strings = on;
                SELECT pg_catalog.set_config('synchronous_commit', 'on', false)
                WHERE pg_catalog.current_setting('synchronous_commit') IN ('off', 'local')
                """)
            return connection
        } catch {
            throw StoreError(error)
        }
    }
}
