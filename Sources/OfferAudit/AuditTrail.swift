package import Logging
import NIOConcurrencyHelpers
import NIOCore
package import OfferCore
package import OfferTelemetry

/// The audit trail. No signature is sent before its line is written.
///
/// While lines cannot be written, nothing is signed.
package final class AuditTrail: Sendable {
    private struct Refusals {
        /// The time of the last refusal, in whole seconds, and the number of refusals in that second.
        var second: Int64 = 0
        var count = 0
        /// The number of refusals without their own line that have not yet been reported in a summary line.
        var omitted = 0
        var isReportScheduled = false

        /// Counts a refusal.
        /// - Returns: true if the refusal gets its own line.
        mutating func count(at time: Timestamp) -> Bool {
            let second = time.milliseconds / 1000
            if self.second != second { (self.second, count) = (second, 0) }
            count += 1
            return count <= AuditTrail.refusalsPerSecond
        }

        /// - Returns: true if a report has to be scheduled.
        mutating func omit() -> Bool {
            omitted += 1
            defer { isReportScheduled = true }
            return !isReportScheduled
        }
    }

    private let commits: GroupCommit<AuditSink>
    private let refusals = NIOLockedValueBox(Refusals())
    private let hangWarning: ThrottledWarning
    private let codes: AuditCodes
    /// True if the trail contains the addresses of clients.
    package let recordsAddresses: Bool

    /// The maximum time that the disk may take before signing stops.
    private static let patience: TimeAmount = .seconds(1)
    /// The maximum number of waiting entries, a few seconds' worth.
    private static let capacity = 50_000
    /// The number of refusals that get a line each second. Anyone can cause refusals, and disk space is limited.
    private static let refusalsPerSecond = 100

    /// Writes the `start` line, and returns once the write has succeeded or failed.
    /// - Parameters:
    ///   - store: the store that receives the lines.
    ///   - codes: computes the codes for customers and addresses.
    ///   - about: additional members of the lines that this process writes when it starts or resumes.
    /// - Throws: a fault that an operator has to fix. After any other fault, the trail is created, but nothing is
    ///   signed while the fault lasts.
    package init(
        store: sending any AuditStore, codes: AuditCodes, now: @escaping @Sendable () -> Timestamp,
        readiness: Readiness, metrics: AuditMetrics, log: Logger,
        about: [(name: String, text: String)] = []
    ) async throws(AuditFault) {
        let sink = AuditSink(
            store: store, codes: codes, now: now, readiness: readiness, metrics: metrics, log: log, about: about)
        commits = GroupCommit(sink: sink, capacity: Self.capacity)
        hangWarning = ThrottledWarning("nothing is signed because the audit trail hangs", log: log)
        self.codes = codes
        recordsAddresses = codes.address != nil
        metrics.lag.set(0)
        do {
            try await commits.perform { sink in
                try sink.writeStart()
                sink.logHead()
            }
        } catch {
            let fault = AuditFault(error)
            if fault.isSetup { throw fault }
            await commits.close(fault)
        }
    }

    /// The reason nothing should be signed now; nil while lines can be written.
    package var fault: AuditFault? {
        let (fault, since) = commits.health
        if let fault { return AuditFault(fault) }
        guard let since, NIODeadline.now() - since > Self.patience else { return nil }
        let hanging = AuditFault("the disk, or the reader of the pipe, takes longer than a second per line")
        hangWarning.warn(["hint": "\(hanging.problem.hint)"])
        return hanging
    }

    /// Returns the code that stands for a customer in the lines of this process, in hexadecimal.
    /// - Parameter customer: the bytes that identify the customer.
    package func code(of customer: [UInt8]) -> String? {
        (try? codes.customer(customer)).map(Hexadecimal.text)
    }

    /// Adds entries for signatures. No response may contain these signatures before the commit is durable.
    /// - Returns: nil if lines cannot be written or too many entries are waiting.
    package func add(_ entries: [AuditEntry]) -> Commit? { commits.add(entries) }

    /// Adds an entry for a refusal. No one waits for it to be written.
    package func note(_ refusal: AuditEntry) {
        let mayHaveLine = refusals.withLockedValue { $0.count(at: refusal.time) }
        if mayHaveLine, commits.note(refusal) { return }
        if refusals.withLockedValue({ $0.omit() }) { scheduleOmittedReport() }
    }

    /// Schedules a check that the lines written so far are still in the file. Without this check, an altered file would
    /// be noticed only when the next line is written.
    package func checkLines() {
        // Nothing can be checked while lines cannot be written, and the attempt to resume includes the check.
        guard fault == nil else { return }
        commits.schedule(in: .zero) { sink in
            guard self.commits.health.fault == nil else { return }
            try sink.checkLines()
        }
    }

    /// Schedules the logging of the last line's number and hash.
    package func logHead() {
        guard fault == nil else { return }
        commits.schedule(in: .zero) { $0.logHead() }
    }

    private func scheduleOmittedReport() {
        commits.schedule(in: .seconds(1)) { sink in
            guard self.commits.health.fault == nil else { return self.scheduleOmittedReport() }
            let count = self.refusals.withLockedValue { $0.omitted }
            do { try sink.writeEvent(.refusalsOmitted) { $0.member("count", Int64(count)) } } catch {
                self.scheduleOmittedReport()
                throw error
            }
            let isMoreOmitted = self.refusals.withLockedValue { refusals in
                refusals.omitted -= count
                refusals.isReportScheduled = refusals.omitted > 0
                return refusals.isReportScheduled
            }
            if isMoreOmitted { self.scheduleOmittedReport() }
        }
    }
}
