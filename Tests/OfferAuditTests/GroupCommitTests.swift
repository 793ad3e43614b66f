import NIOConcurrencyHelpers
import OfferAudit
import OfferCore
import TestSupport
import Testing

/// Group commit with a sink that fails on demand.
@Suite("Group commit", .timeLimit(.minutes(30)))
struct GroupCommitTests {
    private struct Broken: Error {}

    /// The calls that the sink has received, and a switch that makes it fail.
    private final class Record: Sendable {
        let isBroken = NIOLockedValueBox(false)
        let groups = NIOLockedValueBox([[Int]]())
        let lost = NIOLockedValueBox([Int]())
        let resumes = NIOLockedValueBox([Int]())
    }

    private final class Sink: CommitSink {
        let record: Record

        init(_ record: Record) {
            self.record = record
        }

        func write(_ group: [Int]) throws {
            guard !record.isBroken.withLockedValue({ $0 }) else { throw Broken() }
            record.groups.withLockedValue { $0.append(group) }
        }

        func resume(lostCount: Int) throws {
            guard !record.isBroken.withLockedValue({ $0 }) else { throw Broken() }
            record.resumes.withLockedValue { $0.append(lostCount) }
        }

        func didFail(_ error: any Error, lostCount: Int) { record.lost.withLockedValue { $0.append(lostCount) } }

        func didResume() {}
    }

    private let record = Record()

    private func makeLog(capacity: Int = 100) -> GroupCommit<Sink> {
        GroupCommit(sink: Sink(record), capacity: capacity)
    }

    @Test("entries wait until a commit is requested and are then written together, in order")
    func groups() async throws {
        let log = makeLog()
        let commits = try (1...5).map { try #require(log.add([$0])) }
        #expect(record.groups.withLockedValue { $0 } == [])
        #expect(await commits[4].isDurable())
        #expect(record.groups.withLockedValue { $0 } == [[1, 2, 3, 4, 5]])
        #expect(await commits[0].isDurable(), "no further write is needed")
        #expect(record.groups.withLockedValue { $0.count } == 1)
    }

    @Test("a noted entry is written without a waiting caller, along with the entries added before it")
    func notes() async throws {
        let log = makeLog()
        _ = log.add([1])
        #expect(log.note(2))
        try await waitUntil { record.groups.withLockedValue { $0 } == [[1, 2]] }
    }

    @Test("a failed write loses all pending entries and closes the log until the sink resumes")
    func failure() async throws {
        let log = makeLog()
        let written = try #require(log.add([1]))
        #expect(await written.isDurable())
        record.isBroken.withLockedValue { $0 = true }
        let lost = try #require(log.add([2, 3]))
        #expect(await !lost.isDurable())
        #expect(log.health.fault != nil)
        #expect(log.add([4])?.positions == nil && !log.note(5))
        record.isBroken.withLockedValue { $0 = false }
        try await waitUntil { log.health.fault == nil }
        #expect(record.lost.withLockedValue { $0.first } == 2)
        #expect(record.resumes.withLockedValue { $0 } == [2])
        let after = try #require(log.add([6]))
        var both = lost
        both.merge(after)
        #expect(await after.isDurable())
        #expect(await !both.isDurable(), "a merged commit is durable only if all of it is")
        #expect(record.groups.withLockedValue { $0 } == [[1], [6]])
    }

    @Test("entries beyond the capacity are refused")
    func capacity() async throws {
        let log = makeLog(capacity: 3)
        let last = (1...3).compactMap { log.add([$0]) }.last
        #expect(log.add([4])?.positions == nil && !log.note(5))
        #expect(try await #require(last).isDurable())
        #expect(log.note(6))
    }

    @Test("each of 10,000 entries from many tasks is written once, and each commit learns its outcome")
    func concurrent() async throws {
        let log = makeLog(capacity: .max)
        let durable = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<10_000 { group.addTask { await log.add([number])?.isDurable() ?? false } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(durable == 10_000)
        #expect(record.groups.withLockedValue { $0.joined().sorted() } == Array(0..<10_000))
    }
}
