import Dispatch
import NIOConcurrencyHelpers
import OfferCore
import TestSupport
import Testing

@testable import OfferKeys

@Suite("Token threads")
struct TokenThreadsTests {
    /// Holds a thread until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        func pass() { semaphore.wait() }
        func open() { semaphore.signal() }
    }

    private static let late = ContinuousClock.now + .seconds(3600)

    @Test("a job returns its result, from several callers at a time")
    func results() async throws {
        let threads = TokenThreads(sessions: 2, named: "test")
        defer { threads.close {} }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 { group.addTask { try await threads.run(until: Self.late) { number * 2 } } }
            var sum = 0
            for try await result in group { sum += result }
            #expect(sum == 199 * 200)
        }
        #expect(try threads.wait(within: .seconds(30)) { 7 } == 7)
    }

    @Test("beyond the queue, a job fails at once, and those in the queue are done")
    func full() async throws {
        let threads = TokenThreads(sessions: 1, named: "test", maximumWaiting: 2)
        defer { threads.close {} }
        let (started, gate) = (Gate(), Gate())
        async let running: Void = threads.run(until: Self.late) {
            started.open()
            gate.pass()
        }
        try await onOwnThread { started.pass() }
        async let first = threads.run(until: Self.late) { 1 }
        async let second = threads.run(until: Self.late) { 2 }
        while threads.waitingCount < 2 { await Task.yield() }
        await #expect(throws: SigningThreadsFault.full) { try await threads.run(until: Self.late) { 3 } }
        gate.open()
        #expect(try await (first, second) == (1, 2))
        try await running
    }

    @Test(
        "a job that waits until its deadline fails, and work without a deadline overtakes what waits, even a full queue"
    )
    func order() async throws {
        let threads = TokenThreads(sessions: 1, named: "test", maximumWaiting: 2)
        let (started, gate, order) = (Gate(), Gate(), NIOLockedValueBox<[Int]>([]))
        async let running: Void = threads.run(until: Self.late) {
            started.open()
            gate.pass()
        }
        try await onOwnThread { started.pass() }
        await #expect(throws: SigningThreadsFault.waitedTooLong) {
            try await threads.run(until: .now + .milliseconds(1)) { order.withLockedValue { $0.append(0) } }
        }
        async let first: Void = threads.run(until: Self.late) { order.withLockedValue { $0.append(1) } }
        async let second: Void = threads.run(until: Self.late) { order.withLockedValue { $0.append(2) } }
        while threads.waitingCount < 2 { await Task.yield() }
        async let urgent = onOwnThread {
            try threads.wait(within: .seconds(3600)) { order.withLockedValue { $0.append(3) } }
        }
        while threads.waitingCount < 3 { await Task.yield() }
        #expect(!threads.areStuck)
        gate.open()
        _ = try await (running, first, second)
        try await urgent
        #expect(order.withLockedValue { $0.first } == 3 && order.withLockedValue { $0.sorted() } == [1, 2, 3])
        // Closing runs last, and the threads end.
        let closed = Gate()
        threads.close { closed.open() }
        try await onOwnThread { closed.pass() }
    }

    @Test("while every thread hangs, jobs fail, at first when they are late and then at once; then they are done again")
    func hanging() async throws {
        let threads = TokenThreads(sessions: 2, named: "test")
        defer { threads.close {} }
        let gate = Gate()
        await withTaskGroup(of: SigningThreadsFault?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(SigningThreadsFault) {
                        try await threads.run(until: .now + .milliseconds(600)) { gate.pass() }
                    } catch { return error }
                    return nil
                }
            }
            for await fault in group { #expect(fault == .noAnswer) }
        }
        #expect(threads.areStuck)
        // The limit does not matter now, because no thread can take the job.
        #expect(throws: SigningThreadsFault.noAnswer) { try threads.wait(within: .seconds(3600)) { 1 } }
        gate.open()
        gate.open()
        while (try? await threads.run(until: Self.late) { 1 }) == nil { await Task.yield() }
    }
}
