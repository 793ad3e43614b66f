import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
package import OfferCore

/// The destination of a ``GroupCommit``. All calls come from one thread.
package protocol CommitSink: AnyObject, SendableMetatype {
    associatedtype Entry: Sendable

    /// Makes either all entries of a group durable or none. It may block for as long as the disk takes.
    func write(_ group: [Entry]) throws

    /// Tries to write again after a failure.
    /// - Parameter lostCount: the number of entries lost since the last success.
    func resume(lostCount: Int) throws

    /// Called after a failed ``write(_:)`` or ``resume(lostCount:)``.
    /// - Parameter lostCount: the number of entries lost by this failure.
    func didFail(_ error: any Error, lostCount: Int)

    /// Called after a successful ``resume(lostCount:)``.
    func didResume()
}

/// A log that writes entries in groups on its own thread and notifies waiters when their entries are durable.
///
/// A hanging disk therefore blocks no event loop. Entries added during a write go into the next group. After a failed
/// write, the log closes: pending entries are lost, their waiters are notified, and no new entries are accepted. The
/// log then calls ``CommitSink/resume(lostCount:)`` four times a second. The first success reopens it.
package final class GroupCommit<Sink: CommitSink>: CommitLog {
    private struct Waiter {
        let positions: ClosedRange<UInt64>
        let completion: @Sendable (_ isDurable: Bool) -> Void
    }

    private struct State {
        /// Entries that will be written together.
        var group: [Sink.Entry] = []
        /// The total number of entries added.
        var added: UInt64 = 0
        /// The position up to which all entries have been written or lost.
        var settled: UInt64 = 0
        /// The position of the last entry that was lost.
        var lastLost: UInt64 = 0
        var waiters: [Waiter] = []
        /// True if a write of the group has been requested. Entries from a batch of responses wait until the batch
        /// requests one, because writing them one by one would cost ten times as much.
        var isDue = false
        /// True if the thread is writing or is about to write.
        var isWriting = false
        /// The start of the disk operation in progress.
        var operationBegan: NIODeadline?
        /// The reason the log is closed; nil while it is open.
        var fault: (any Error)?

        mutating func add(_ entries: [Sink.Entry]) -> ClosedRange<UInt64> {
            group += entries
            added += UInt64(entries.count)
            return added - UInt64(entries.count) + 1...added
        }

        /// Returns true if all entries at `positions` were written, false if some were lost, and nil if some are still
        /// pending.
        func isDurable(_ positions: ClosedRange<UInt64>) -> Bool? {
            positions.upperBound <= settled ? positions.lowerBound > lastLost : nil
        }

        /// Requests that the group be written.
        /// - Returns: true if the thread has to be woken.
        mutating func requestWrite() -> Bool {
            isDue = true
            defer { isWriting = true }
            return !isWriting
        }

        /// Takes the next group to write.
        /// - Returns: nil if no write has been requested or there are no entries.
        mutating func takeGroup() -> [Sink.Entry]? {
            isWriting = isDue && !group.isEmpty
            isDue = false
            guard isWriting else { return nil }
            defer { group = [] }
            return group
        }

        /// Notifies the waiters whose entries are settled. Called under the lock to preserve the order of entries.
        mutating func tellWaiters() {
            waiters = waiters.filter { waiter in
                guard let isDurable = isDurable(waiter.positions) else { return true }
                waiter.completion(isDurable)
                return false
            }
        }
    }

    private let capacity: Int
    private let state = NIOLockedValueBox(State())
    private let thread: any EventLoop
    private let sink: NIOLoopBoundBox<Sink>

    private static var retryInterval: TimeAmount { .milliseconds(250) }

    /// - Parameter capacity: the maximum number of entries waiting to be written.
    package init(sink: sending Sink, capacity: Int) {
        self.capacity = capacity
        thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()
        self.sink = .makeBoxSendingValue(sink, eventLoop: thread)
    }

    // MARK: Entries

    /// Adds entries whose caller will wait for them with ``write(_:completion:)``.
    /// - Parameter entries: one or more entries.
    /// - Returns: nil if the log is closed or too many entries are waiting.
    package func add(_ entries: [Sink.Entry]) -> Commit? {
        let positions = state.withLockedValue { state -> ClosedRange<UInt64>? in
            guard state.fault == nil, state.group.count < capacity else { return nil }
            return state.add(entries)
        }
        return positions.map { Commit(log: self, positions: $0) }
    }

    /// Adds an entry that no one waits for and requests that it be written.
    /// - Returns: false if the log is closed or too many entries are waiting.
    package func note(_ entry: Sink.Entry) -> Bool {
        let (isAdded, wakes) = state.withLockedValue { state in
            guard state.fault == nil, state.group.count < capacity else { return (false, false) }
            _ = state.add([entry])
            return (true, state.requestWrite())
        }
        if wakes { wake() }
        return isAdded
    }

    package func write(_ commit: Commit, completion: @escaping @Sendable (_ isDurable: Bool) -> Void) {
        let (isDurable, wakes) = state.withLockedValue { state -> (Bool?, Bool) in
            if let isDurable = state.isDurable(commit.positions) { return (isDurable, false) }
            state.waiters.append(Waiter(positions: commit.positions, completion: completion))
            return (nil, state.requestWrite())
        }
        if let isDurable { completion(isDurable) }
        if wakes { wake() }
    }

    /// The reason the log is closed and the time the current disk operation began. Each is nil if there is none.
    package var health: (fault: (any Error)?, operationBegan: NIODeadline?) {
        state.withLockedValue { ($0.fault, $0.operationBegan) }
    }

    // MARK: Thread

    private func wake() { thread.execute { self.writeAll() } }

    private func writeAll() {
        while let group = state.withLockedValue({ $0.takeGroup() }) {
            do {
                try timed { try sink.value.write(group) }
                state.withLockedValue { state in
                    state.settled += UInt64(group.count)
                    state.tellWaiters()
                }
            } catch {
                fail(error)
            }
        }
    }

    /// Performs `work` with the sink, outside any group.
    package func perform<Result: Sendable>(_ work: @escaping @Sendable (Sink) throws -> Result) async throws -> Result {
        try await thread.submit { try self.timed { try work(self.sink.value) } }.get()
    }

    /// Performs `work` with the sink after a delay, outside any group and even if the log is closed by then.
    /// - Parameter work: the work to perform. If it throws, the log is closed.
    package func schedule(in delay: TimeAmount, _ work: @escaping @Sendable (Sink) throws -> Void) {
        thread.scheduleTask(in: delay) {
            do { try self.timed { try work(self.sink.value) } } catch { self.fail(error) }
        }
    }

    /// Closes the log because of an error outside any group.
    package func close(_ error: any Error) async { try? await thread.submit { self.fail(error) }.get() }

    private func timed<Result>(_ work: () throws -> Result) rethrows -> Result {
        state.withLockedValue { $0.operationBegan = .now() }
        defer { state.withLockedValue { $0.operationBegan = nil } }
        return try work()
    }

    private func fail(_ error: any Error) {
        let (wasOpen, lostCount) = state.withLockedValue { state in
            let wasOpen = state.fault == nil
            let lostCount = Int(state.added - state.settled)
            state.fault = error
            state.settled = state.added
            state.lastLost = state.added
            state.group = []
            state.tellWaiters()
            return (wasOpen, lostCount)
        }
        sink.value.didFail(error, lostCount: lostCount)
        if wasOpen { scheduleRetry(lostCount: lostCount) }
    }

    private func scheduleRetry(lostCount: Int) {
        thread.scheduleTask(in: Self.retryInterval) { self.retry(lostCount: lostCount) }
    }

    private func retry(lostCount: Int) {
        do {
            try timed { try sink.value.resume(lostCount: lostCount) }
            state.withLockedValue { $0.fault = nil }
            sink.value.didResume()
        } catch {
            state.withLockedValue { $0.fault = error }
            sink.value.didFail(error, lostCount: 0)
            scheduleRetry(lostCount: lostCount)
        }
    }
}
