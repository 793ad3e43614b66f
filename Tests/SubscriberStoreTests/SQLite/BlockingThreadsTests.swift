import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import SubscriberStore

@Suite("Threads that may wait for the disk")
struct BlockingThreadsTests {
    @Test("as many tasks block at a time as there are threads, and none of Swift's own is blocked")
    func maximum() async {
        let threads = BlockingThreads(named: "test", maximum: 3)
        let counts = NIOLockedValueBox((now: 0, highest: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask(executorPreference: threads) {
                    counts.withLockedValue { $0 = ($0.now + 1, max($0.highest, $0.now + 1)) }
                    Self.block(for: 0.02)
                    counts.withLockedValue { $0.now -= 1 }
                }
            }
        }
        #expect(counts.withLockedValue { $0 } == (0, 3))
    }

    @Test("a task that prefers them stays on them, and another comes to them and goes back")
    func preference() async {
        let threads = BlockingThreads(named: "test-threads", maximum: 1)
        let names = await withTaskGroup(of: [String?].self) { group in
            group.addTask(executorPreference: threads) {
                let before = Self.threadName()
                await Task.yield()
                let inside = await withTaskExecutorPreference(threads) { Self.threadName() }
                return [before, inside, Self.threadName()]
            }
            return await group.next() ?? []
        }
        #expect(names == Array(repeating: "test-threads", count: 3))
        let inside = await withTaskExecutorPreference(threads) { Self.threadName() }
        #expect(inside == "test-threads" && Self.threadName() != "test-threads")
    }

    @Test("no task is lost when threads end just as one comes")
    func endingThreads() async {
        // A thread ends as soon as it finds nothing to do.
        let threads = BlockingThreads(named: "test", maximum: 2, patience: .nanoseconds(0))
        var done = 0
        for _ in 0..<30_000 { done += await withTaskExecutorPreference(threads) { 1 } }
        #expect(done == 30_000)
    }

    private static func block(for seconds: TimeInterval) { Thread.sleep(forTimeInterval: seconds) }

    private static func threadName() -> String? { Thread.current.name }
}
