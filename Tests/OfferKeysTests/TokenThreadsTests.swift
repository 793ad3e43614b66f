import Dispatch
import OfferCore
import Testing

@testable import OfferKeys

@Suite("Token threads", .timeLimit(.minutes(1)))
struct TokenThreadsTests {
    /// Holds a thread until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        func pass() { semaphore.wait() }
        func open() { semaphore.signal() }
    }

    @Test("a job returns its result, from several callers at a time")
    func results() async throws {
        let threads = TokenThreads(count: 2, named: "test")
        defer { threads.close {} }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 { group.addTask { try await threads.run { number * 2 } } }
            var sum = 0
            for try await result in group { sum += result }
            #expect(sum == 199 * 200)
        }
        #expect(try threads.wait(within: .seconds(30)) { 7 } == 7)
    }

    @Test("beyond the queue, a job fails at once, and those in the queue are done")
    func full() async throws {
        let threads = TokenThreads(count: 1, named: "test", limit: .seconds(60), maximumWaiting: 2)
        defer { threads.close {} }
        let (started, gate) = (Gate(), Gate())
        async let running: Void = threads.run {
            started.open()
            gate.pass()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                started.pass()
                continuation.resume()
            }
        }
        async let first = threads.run { 1 }
        async let second = threads.run { 2 }
        while threads.waitingCount < 2 { await Task.yield() }
        await #expect(throws: SigningThreadsFault.full) { try await threads.run { 3 } }
        gate.open()
        #expect(try await (first, second) == (1, 2))
        try await running
    }

    @Test("while every thread hangs, jobs fail, at first when they are late and then at once; then they are done again")
    func hanging() async throws {
        let threads = TokenThreads(count: 2, named: "test", limit: .milliseconds(100))
        defer { threads.close {} }
        let gate = Gate()
        await withTaskGroup(of: SigningThreadsFault?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(SigningThreadsFault) { try await threads.run { gate.pass() } } catch { return error }
                    return nil
                }
            }
            for await fault in group { #expect(fault == .noAnswer) }
        }
        // The limit does not matter now, because no thread can take the job.
        #expect(throws: SigningThreadsFault.noAnswer) { try threads.wait(within: .seconds(3600)) { 1 } }
        gate.open()
        gate.open()
        while (try? await threads.run { 1 }) == nil { await Task.yield() }
    }
}
