import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import SubscriberStore

@Suite("Threads that may wait for the disk")
struct BlockingThreadsTests {
    /// How many are blocked now, and how many were at most.
    private typealias Counts = NIOLockedValueBox<(now: Int, highest: Int)>

    @Test("as many tasks block at a time as there are threads", arguments: [true, false])
    func maximum(prefers: Bool) async {
        let threads = BlockingThreads(named: "test", maximum: 3)
        let counts = Counts((0, 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                if prefers {
                    group.addTask(executorPreference: threads) { Self.block(counts) }
                } else {
                    group.addTask { await withTaskExecutorPreference(threads) { Self.block(counts) } }
                }
            }
        }
        #expect(counts.withLockedValue { $0 } == (0, 3))
    }

    private static func block(_ counts: Counts) {
        counts.withLockedValue { $0 = ($0.now + 1, max($0.highest, $0.now + 1)) }
        Thread.sleep(forTimeInterval: 0.02)
        counts.withLockedValue { $0.now -= 1 }
    }

    @Test("no task is lost when one comes just as a thread finds nothing to do")
    func endingWork() async {
        let threads = BlockingThreads(named: "test", maximum: 2)
        var done = 0
        for _ in 0..<30_000 { done += await withTaskExecutorPreference(threads) { 1 } }
        #expect(done == 30_000)
    }
}
