import Logging
import OfferCore
package import OfferTelemetry

/// The sink that formats the lines of the audit trail and appends them to its store. It runs on the trail's own thread.
package final class AuditSink: CommitSink {
    private let store: any AuditStore
    private let customerCode: @Sendable ([UInt8]) throws -> [UInt8]
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: AuditMetrics
    private let log: Logger
    private let about: [(name: String, text: String)]
    /// The store's last reported warning.
    private var reportedWarning: Diagnostic?

    /// In bytes; slightly more than most lines need.
    private static let typicalLineSize = 512

    init(
        store: any AuditStore, customerCode: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        now: @escaping @Sendable () -> Timestamp, readiness: Readiness, metrics: AuditMetrics, log: Logger,
        about: [(name: String, text: String)]
    ) {
        self.store = store
        self.customerCode = customerCode
        self.now = now
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        self.about = about
    }

    package func write(_ group: [AuditEntry]) throws {
        metrics.lag.set(Double(group.count))
        try store.append { text, chain in
            text.reserveCapacity(text.count + group.count * Self.typicalLineSize)
            for entry in group {
                try chain.append(to: &text) { try entry.write(to: &$0, customerCode: customerCode) }
            }
        }
        metrics.lag.set(0)
        reportWarning()
    }

    /// Appends a line about the trail itself.
    func writeEvent(_ name: String, _ writeMembers: (inout JSONWriter) -> Void) throws {
        try store.append { text, chain in
            try chain.append(to: &text) { writer in
                writer.member("time", utf8: now().iso8601)
                writer.member("event", name)
                writeMembers(&writer)
            }
        }
    }

    func writeStart() throws { try writeEvent("start", writeAbout) }

    package func resume(lostCount: Int) throws {
        try writeEvent("resume") { writer in
            writeAbout(&writer)
            writer.member("lost", Int64(lostCount))
        }
    }

    package func didFail(_ error: any Error, lostCount: Int) {
        metrics.lag.set(0)
        metrics.failures.increment(by: lostCount)
        readiness.report([AuditFault(error).problem], from: .audit, to: log)
    }

    package func didResume() {
        reportedWarning = nil
        readiness.report([], from: .audit, to: log)
    }

    private func writeAbout(_ writer: inout JSONWriter) {
        for (name, text) in about { writer.member(name, text) }
    }

    private func reportWarning() {
        guard store.warning != reportedWarning else { return }
        reportedWarning = store.warning
        readiness.report(reportedWarning.map { [$0] } ?? [], from: .audit, to: log)
    }
}

/// The metrics of the audit trail.
package struct AuditMetrics: Sendable {
    /// Entries that could not be written.
    let failures: Counter
    /// Entries waiting to be written.
    let lag: Gauge

    package init(failures: Counter, lag: Gauge) {
        self.failures = failures
        self.lag = lag
    }
}
