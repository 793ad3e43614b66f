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
    /// Where entries stand among all that were added, from 1 on.
    package struct Span: Hashable, Sendable {
        fileprivate var first: UInt64
        fileprivate var last: UInt64

        /// The smallest with both in it.
        package func union(_ other: Span) -> Span { Span(first: min(first, other.first), last: max(last, other.last)) }
    }

    private struct Waiter {
        let span: Span
        let then: @Sendable (_ isWritten: Bool) -> Void
    }

    private struct Queue {
        /// What is written together.
        var group: [AuditEntry] = []
        var added: UInt64 = 0
        /// Up to here each entry is written or lost.
        var settled: UInt64 = 0
        /// Up to here some are lost.
        var lostThrough: UInt64 = 0
        var waiters: [Waiter] = []
        /// Whether somebody waits for what is there. What a turn of an event loop adds is left until its end: written one by
        /// one, it would cost ten times as much.
        var isDue = false
        /// Whether the thread is at it, or about to be.
        var isBusy = false
        /// Since when the thread waits for the disk.
        var writingSince: NIODeadline?
        /// Why nothing can be written.
        var fault: AuditFault?
        /// How many entries were lost since the last that was written.
        var lostCount = 0
        /// The second of the last refusal, and how many there were in it.
        var refusals = (second: Int64(0), count: 0)
        /// How many refusals were left out and are told nowhere yet.
        var omitted = 0
        /// Whether the time is set at which they are told.
        var isTellingScheduled = false

        /// Whether all of `span` is written, or some of it lost; nil as long as that is open.
        func isWritten(_ span: Span) -> Bool? { span.last <= settled ? span.first > lostThrough : nil }

        mutating func add(_ new: [AuditEntry]) -> Span {
            group += new
            added += UInt64(new.count)
            return Span(first: added - UInt64(new.count) + 1, last: added)
        }

        /// - Returns: whether the time has to be set at which they are told.
        mutating func schedulesTelling() -> Bool {
            defer { isTellingScheduled = true }
            return !isTellingScheduled
        }

        /// - Returns: whether the thread has to be told to write.
        mutating func begin() -> Bool {
            isDue = true
            defer { isBusy = true }
            return !isBusy
        }
    }

    private let code: @Sendable ([UInt8]) throws -> [UInt8]
    private let sha256: AuditChain.SHA256
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: ServiceMetrics
    private let log: Logger
    private let about: [(name: String, text: String)]
    private let hangs: OccasionalWarning
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
    /// In bytes, and a little more.
    private static let usualLineSize = 512
    /// How many refusals are told in a second: of those there is no end, and room on a disk there is.
    private static let refusalsPerSecond = 100

    /// Begins with a line that says so, and returns when it is written, or cannot be.
    /// - Parameters:
    ///   - store: where the lines go.
    ///   - code: the HMAC of a customer.
    ///   - about: what else the lines say in which this process begins, or resumes.
    /// - Throws: what somebody has to set right. With another fault it begins all the same, and nothing is signed as long as
    ///   that lasts.
    package init(
        store: sending any AuditStore, code: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        sha256: @escaping AuditChain.SHA256, now: @escaping @Sendable () -> Timestamp,
        readiness: Readiness, metrics: ServiceMetrics, log: Logger, about: [(name: String, text: String)] = []
    ) async throws(AuditFault) {
        self.code = code
        self.sha256 = sha256
        self.now = now
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        self.about = about
        hangs = OccasionalWarning("nothing is signed, because the audit trail hangs", log: log)
        thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()
        self.store = .makeBoxSendingValue(store, eventLoop: thread)
        warning = .makeBoxSendingValue(nil, eventLoop: thread)
        let outcome: Result<Void, AuditFault> = await withCheckedContinuation { continuation in
            thread.execute { [self] in
                do throws(AuditFault) {
                    try writeEvent("start") { tellAbout(&$0) }
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        metrics.auditLag.set(0)
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
        let hanging = AuditFault("the disk, or whoever reads the pipe, takes longer than a second for a line")
        hangs.warn(["hint": "\(hanging.problem.hint)"])
        return hanging
    }

    /// Adds entries of what has been signed. Whoever sends it has to wait until they are written: ``write(_:then:)``.
    package func add(_ entries: [AuditEntry]) throws(Problem) -> Span {
        let span = queue.withLockedValue { queue -> Span? in
            guard queue.fault == nil, queue.group.count < Self.capacity else { return nil }
            return queue.add(entries)
        }
        guard let span else { throw .auditUnavailable }
        return span
    }

    /// Adds what was not signed. Nobody has to wait for it.
    package func note(_ refusal: AuditEntry) {
        let (begins, schedulesTelling) = queue.withLockedValue { queue in
            let second = refusal.time.milliseconds / 1000
            if queue.refusals.second != second { queue.refusals = (second, 0) }
            queue.refusals.count += 1
            guard queue.refusals.count <= Self.refusalsPerSecond, queue.fault == nil,
                queue.group.count < Self.capacity
            else {
                queue.omitted += 1
                return (false, queue.schedulesTelling())
            }
            _ = queue.add([refusal])
            return (queue.begin(), false)
        }
        if begins { thread.execute { self.writeAll() } }
        if schedulesTelling { scheduleTelling() }
    }

    private func scheduleTelling() { thread.scheduleTask(in: .seconds(1)) { self.tellOmitted() } }

    /// Has the entries of `span` written.
    /// - Parameter then: called on any thread, under a lock, so that it can do no more than tell somebody; whether all of them
    ///   are written, or some lost.
    package func write(_ span: Span, then: @escaping @Sendable (_ isWritten: Bool) -> Void) {
        let (isWritten, begins) = queue.withLockedValue { queue -> (Bool?, Bool) in
            if let isWritten = queue.isWritten(span) { return (isWritten, false) }
            queue.waiters.append(Waiter(span: span, then: then))
            return (nil, queue.begin())
        }
        if let isWritten { then(isWritten) }
        if begins { thread.execute { self.writeAll() } }
    }

    /// Has the entries of `span` written, and waits for it; false if some are lost.
    package func isWritten(_ span: Span) async -> Bool {
        await withCheckedContinuation { continuation in write(span) { continuation.resume(returning: $0) } }
    }

    // MARK: On the thread

    private func writeAll() {
        while let group = next() {
            do throws(AuditFault) {
                try append { text, chain in
                    text.reserveCapacity(text.count + group.count * Self.usualLineSize)
                    for entry in group {
                        try chain.append(to: &text, sha256: sha256) { try entry.write(to: &$0, code: code) }
                    }
                }
                noteWritten(group.count)
                reportWarning()
            } catch {
                fail(error)
            }
        }
    }

    /// What has come together; nil if nobody waits for anything.
    private func next() -> [AuditEntry]? {
        queue.withLockedValue { queue in
            queue.isBusy = queue.isDue && !queue.group.isEmpty
            queue.isDue = false
            guard queue.isBusy else { return nil }
            defer { queue.group = [] }
            metrics.auditLag.set(Double(queue.group.count))
            return queue.group
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
                write(&writer)
            }
        }
    }

    private func tellAbout(_ writer: inout JSONWriter) {
        for (name, text) in about { writer.member(name, text) }
    }

    private func noteWritten(_ count: Int) {
        metrics.auditLag.set(0)
        // Told under the lock, so that nobody hears of a later one first.
        queue.withLockedValue { queue in
            queue.settled += UInt64(count)
            queue.waiters = queue.waiters.filter { waiter in
                guard let isWritten = queue.isWritten(waiter.span) else { return true }
                waiter.then(isWritten)
                return false
            }
        }
    }

    /// Once a second at most; with a fault, when that is over.
    private func tellOmitted() {
        let count = queue.withLockedValue { queue in
            queue.isTellingScheduled = false
            return queue.fault == nil ? queue.omitted : 0
        }
        guard count > 0 else { return }
        do throws(AuditFault) {
            try writeEvent("refusals omitted") { $0.member("count", Int64(count)) }
            queue.withLockedValue { $0.omitted -= count }
        } catch {
            fail(error)
        }
    }

    private func reportWarning() {
        guard store.value.warning != warning.value else { return }
        warning.value = store.value.warning
        readiness.report(warning.value.map { [$0] } ?? [], from: .audit, to: log)
    }

    /// Nothing that waits is written any more, and nothing more is taken until a line could be written again.
    private func fail(_ fault: AuditFault) {
        let (isNew, lost) = queue.withLockedValue { queue in
            let isNew = queue.fault == nil
            let lost = Int(queue.added - queue.settled)
            queue.fault = fault
            queue.lostCount += lost
            queue.settled = queue.added
            queue.lostThrough = queue.added
            queue.group = []
            for waiter in queue.waiters { waiter.then(false) }
            queue.waiters = []
            return (isNew, lost)
        }
        metrics.auditLag.set(0)
        metrics.auditFailures.increment(by: lost)
        readiness.report([fault.problem], from: .audit, to: log)
        if isNew { thread.scheduleTask(in: Self.retryInterval) { self.retry() } }
    }

    private func retry() {
        let lost = queue.withLockedValue { $0.lostCount }
        do throws(AuditFault) {
            try writeEvent("resume") { writer in
                tellAbout(&writer)
                writer.member("lost", Int64(lost))
            }
            let schedulesTelling = queue.withLockedValue { queue in
                queue.fault = nil
                queue.lostCount = 0
                return queue.omitted > 0 && queue.schedulesTelling()
            }
            if schedulesTelling { scheduleTelling() }
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
                ? "set it right, or rename the file, and the next line goes to a new one; or set \(Variable.auditLog.rawValue)"
                : "make room on the disk, see whether it answers, or to who reads the pipe; it is tried again all the time"
        )
    }
}
