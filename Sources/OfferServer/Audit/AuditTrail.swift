import CoreMetrics
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
package import OfferCore

/// The audit trail: nothing that was signed leaves before its line is written.
///
/// A thread of its own writes, so that a disk that hangs holds up no event loop, and it writes all that has come together
/// meanwhile in one go. Where it cannot, nothing is signed; it tries again four times a second.
package final class AuditTrail: Sendable {
    /// How many entries had been added to the trail, with this one.
    package struct Position: Hashable, Comparable, Sendable {
        fileprivate let number: UInt64

        package static func < (one: Position, other: Position) -> Bool { one.number < other.number }
    }

    private struct Waiter {
        let position: UInt64
        let then: @Sendable (_ isWritten: Bool) -> Void
    }

    private struct Queue {
        var entries: [AuditEntry] = []
        var added: UInt64 = 0
        /// Up to here each entry is written or lost.
        var settled: UInt64 = 0
        /// Up to here some are lost.
        var lostThrough: UInt64 = 0
        var waiters: [Waiter] = []
        /// Whether the thread is at it, or about to be.
        var isBusy = false
        /// Since when the thread waits for the disk.
        var writingSince: NIODeadline?
        /// Why nothing can be written.
        var fault: AuditFault?
        /// How many entries were lost since the last that was written.
        var lostCount = 0
    }

    private let code: @Sendable ([UInt8]) throws -> [UInt8]
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: ServiceMetrics
    private let log: Logger
    private let about: [(name: String, text: String)]
    private let queue = NIOLockedValueBox(Queue())
    private let thread: any EventLoop
    private let store: NIOLoopBoundBox<any AuditStore>
    /// The one that has been reported.
    private let warning: NIOLoopBoundBox<SetupProblem?>

    /// How long the disk may take before nothing more is signed.
    private static let patience: TimeAmount = .seconds(1)
    private static let retryInterval: TimeAmount = .milliseconds(250)
    /// How many entries wait at most, which is some seconds' worth.
    private static let capacity = 50_000

    /// Begins with a line that says so, and returns when it is written, or cannot be.
    /// - Parameters:
    ///   - store: where the lines go.
    ///   - code: the HMAC of a customer.
    ///   - about: what else the lines say in which this process begins, or resumes.
    /// - Throws: what somebody has to set right. With another fault it begins all the same, and nothing is signed as long as
    ///   that lasts.
    package init(
        store: sending any AuditStore, code: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8], now: @escaping @Sendable () -> Timestamp,
        readiness: Readiness, metrics: ServiceMetrics, log: Logger, about: [(name: String, text: String)] = []
    ) async throws(AuditFault) {
        self.code = code
        self.sha256 = sha256
        self.now = now
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        self.about = about
        thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()
        self.store = .makeBoxSendingValue(store, eventLoop: thread)
        warning = .makeBoxSendingValue(nil, eventLoop: thread)
        let outcome: Result<Void, AuditFault> = await withCheckedContinuation { continuation in
            thread.execute { [self] in
                do throws(AuditFault) {
                    try writeEvent("start") { _ in }
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        metrics.auditLag.set(0)
        metrics.auditWritable.set(1)
        if case .failure(let fault) = outcome {
            if fault.isSetup { throw fault }
            fail(fault)
        }
    }

    // MARK: Entries

    /// Why nothing should be signed now; nil where the trail can be written.
    package var fault: AuditFault? {
        let (fault, since) = queue.withLockedValue { ($0.fault, $0.writingSince) }
        if let fault { return fault }
        guard let since, NIODeadline.now() - since > Self.patience else { return nil }
        return AuditFault("the disk takes longer than a second to write it")
    }

    /// Adds entries of what has been signed. Whoever sends it has to wait for ``settle(_:then:)``.
    package func add(_ entries: [AuditEntry]) throws(Problem) -> Position {
        let position = queue.withLockedValue { queue -> Position? in
            guard queue.fault == nil, queue.entries.count < Self.capacity else { return nil }
            queue.entries += entries
            queue.added += UInt64(entries.count)
            return Position(number: queue.added)
        }
        guard let position else { throw .auditUnavailable }
        return position
    }

    /// Adds what was not signed. Nobody has to wait for it.
    package func note(_ entry: AuditEntry) {
        guard let position = try? add([entry]) else { return }
        settle(position) { _ in }
    }

    /// Has everything written up to `position`.
    /// - Parameter then: called on any thread; whether it is written, or lost.
    package func settle(_ position: Position, then: @escaping @Sendable (_ isWritten: Bool) -> Void) {
        let (isWritten, begins) = queue.withLockedValue { queue -> (Bool?, Bool) in
            guard position.number > queue.settled else { return (position.number > queue.lostThrough, false) }
            queue.waiters.append(Waiter(position: position.number, then: then))
            defer { queue.isBusy = true }
            return (nil, !queue.isBusy)
        }
        if let isWritten { then(isWritten) }
        if begins { thread.execute { self.writeAll() } }
    }

    /// Has everything written up to `position`, and waits for it; false if it is lost.
    package func isWritten(_ position: Position) async -> Bool {
        await withCheckedContinuation { continuation in settle(position) { continuation.resume(returning: $0) } }
    }

    // MARK: On the thread

    private func writeAll() {
        while let entries = next() {
            do throws(AuditFault) {
                try append { text, chain in
                    for entry in entries {
                        try chain.append(to: &text, sha256: sha256) { try entry.write(to: &$0, code: code) }
                    }
                }
                settle(entries.count)
                reportWarning()
            } catch {
                fail(error)
            }
        }
    }

    /// What has come together; nil if that is nothing.
    private func next() -> [AuditEntry]? {
        queue.withLockedValue { queue in
            queue.isBusy = !queue.entries.isEmpty
            guard queue.isBusy else { return nil }
            let entries = queue.entries
            queue.entries = []
            metrics.auditLag.set(Double(entries.count))
            return entries
        }
    }

    private func append(
        _ write: (inout [UInt8], inout AuditChain) throws -> Void
    ) throws(AuditFault) {
        queue.withLockedValue { $0.writingSince = .now() }
        defer { queue.withLockedValue { $0.writingSince = nil } }
        try store.value.append(write)
    }

    private func writeEvent(_ name: String, _ write: (inout JSONWriter) -> Void) throws(AuditFault) {
        try append { text, chain in
            try chain.append(to: &text, sha256: sha256) { writer in
                writer.member("time", utf8: now().iso8601)
                writer.member("event", name)
                for (name, text) in about { writer.member(name, text) }
                write(&writer)
            }
        }
    }

    private func settle(_ count: Int) {
        let ready = queue.withLockedValue { queue in
            queue.settled += UInt64(count)
            let ready = queue.waiters.filter { $0.position <= queue.settled }
            queue.waiters.removeAll { $0.position <= queue.settled }
            return ready
        }
        metrics.auditLag.set(0)
        for waiter in ready { waiter.then(true) }
    }

    private func reportWarning() {
        guard store.value.warning != warning.value else { return }
        warning.value = store.value.warning
        readiness.report(warning.value.map { [$0] } ?? [], from: .audit, to: log)
    }

    /// Nothing that waits is written any more, and nothing more is taken until a line could be written again.
    private func fail(_ fault: AuditFault) {
        let (waiters, isNew, lost) = queue.withLockedValue { queue in
            let isNew = queue.fault == nil
            let lost = Int(queue.added - queue.settled)
            queue.fault = fault
            queue.lostCount += lost
            queue.settled = queue.added
            queue.lostThrough = queue.added
            queue.entries = []
            defer { queue.waiters = [] }
            return (queue.waiters, isNew, lost)
        }
        for waiter in waiters { waiter.then(false) }
        metrics.auditWritable.set(0)
        metrics.auditLag.set(0)
        metrics.auditFailures.increment(by: lost)
        readiness.report([fault.problem], from: .audit, to: log)
        if isNew { thread.scheduleTask(in: Self.retryInterval) { self.retry() } }
    }

    private func retry() {
        let lost = queue.withLockedValue { $0.lostCount }
        do throws(AuditFault) {
            try writeEvent("resume") { $0.member("lost", Int64(lost)) }
            queue.withLockedValue { queue in
                queue.fault = nil
                queue.lostCount = 0
            }
            metrics.auditWritable.set(1)
            warning.value = nil
            readiness.report([], from: .audit, to: log)
        } catch {
            queue.withLockedValue { $0.fault = error }
            readiness.report([error.problem], from: .audit, to: log)
            thread.scheduleTask(in: Self.retryInterval) { self.retry() }
        }
    }
}

extension AuditFault {
    /// The fault as an operator is told of it.
    package var problem: SetupProblem {
        SetupProblem(
            "nothing is signed, because the audit trail cannot be written: \(description)",
            hint: isSetup
                ? "set it right, or name another file in \(Variable.auditLog.rawValue)"
                : "make room on the disk, or see to who reads it; it is tried again all the time")
    }
}
