import Logging
import OfferCore
package import OfferTelemetry

/// The sink that formats the lines of the audit trail and appends them to its store. It runs on the trail's own thread.
package final class AuditSink: CommitSink {
    private let store: any AuditStore
    private let codes: AuditCodes
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: AuditMetrics
    private let log: Logger
    private let about: [(name: String, text: String)]
    /// The problems that were last reported.
    private var reported: [Diagnostic] = []
    /// The last recorded address and its text. Most requests come from a few addresses.
    private var lastAddress: (address: IPAddress, text: [UInt8])?

    /// The size in bytes reserved for each line, slightly more than most lines need.
    private static let typicalLineSize = 640

    init(
        store: any AuditStore, codes: AuditCodes, now: @escaping @Sendable () -> Timestamp, readiness: Readiness,
        metrics: AuditMetrics, log: Logger, about: [(name: String, text: String)]
    ) {
        self.store = store
        self.codes = codes
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
                let address = try addressText(of: entry.client)
                try chain.append(to: &text) { writer in
                    try entry.write(to: &writer, address: address, customerCode: codes.customer)
                }
            }
        }
        metrics.lag.set(0)
        report()
    }

    private func addressText(of client: AuditEntry.Client) throws -> [UInt8]? {
        guard let address = client.address, let make = codes.address else { return nil }
        if let lastAddress, lastAddress.address == address { return lastAddress.text }
        let text = try make(address)
        lastAddress = (address, text)
        return text
    }

    /// Appends a line about the trail itself.
    func writeEvent(_ event: AuditEvent, _ writeMembers: (inout JSONWriter) -> Void) throws {
        try store.append { text, chain in
            try chain.append(to: &text) { writer in
                writer.member("time", utf8: now().iso8601)
                writer.member("event", event.rawValue)
                writeMembers(&writer)
            }
        }
        report()
    }

    func writeStart() throws { try writeEvent(.start, writeAbout) }

    /// Checks that the lines written so far are still in the file.
    func checkLines() throws {
        try store.checkLines()
        report()
    }

    /// Logs the number and hash of the last line, so that the stored log can reveal an altered trail.
    func logHead() {
        let head = store.head
        log.info(
            "audit trail head", metadata: ["line": "\(head.number)", "hash": "\(Hexadecimal.text(of: head.hash))"])
    }

    package func resume(lostCount: Int) throws {
        try writeEvent(.resume) { writer in
            writeAbout(&writer)
            writer.member("lost", Int64(lostCount))
        }
    }

    package func didFail(_ error: any Error, lostCount: Int) {
        metrics.lag.set(0)
        metrics.failures.increment(by: lostCount)
        // Someone who alters the trail could also fill the disk, so the alarm does not wait for the line that marks the
        // break.
        reportFindings()
        report([AuditFault(error).problem] + store.problems)
    }

    package func didResume() { report() }

    private func writeAbout(_ writer: inout JSONWriter) {
        for (name, text) in about { writer.member(name, text) }
    }

    private func report() {
        reportFindings()
        metrics.note(store.head)
        report(store.problems)
    }

    private func reportFindings() {
        for finding in store.takeFindings() { report(finding) }
    }

    private func report(_ problems: [Diagnostic]) {
        guard problems != reported else { return }
        reported = problems
        readiness.report(problems, from: .audit, to: log)
    }

    private func report(_ finding: AuditFinding) {
        switch finding {
        case .broken(let found):
            metrics.breaks.increment()
            log.critical(
                """
                ALARM: the audit trail no longer holds the last line that this process had written. Someone altered \
                the file while the service was running.
                """,
                metadata: [
                    "lastLine": "\(found.known.number)", "lastHash": "\(Hexadecimal.text(of: found.known.hash))",
                    "foundLine": "\(found.found?.number ?? 0)",
                ])
        case .markedElsewhere(let line):
            metrics.breaks.increment()
            log.critical(
                """
                ALARM: another process has marked a break in the audit trail. If no process has logged that lines are \
                gone, someone forged the mark.
                """, metadata: ["markedInLine": "\(line)"])
        case .fileGone(let lastLine):
            log.warning(
                "the last file of the audit trail is no longer beside the current one",
                metadata: [
                    "lastLine": "\(lastLine)",
                    "hint": "if rotation did not move, compress or remove it, find out who did",
                ])
        }
    }
}

/// The metrics of the audit trail.
package struct AuditMetrics: Sendable {
    /// Entries that could not be written.
    package let failures: Counter
    /// Entries waiting to be written.
    package let lag: Gauge
    /// Breaks that this process has found.
    package let breaks: Counter
    /// The number of the last line.
    package let headLine: Gauge
    /// The first 48 bits of the last line's hash, which a Double represents exactly.
    package let headHash: Gauge

    package init(failures: Counter, lag: Gauge, breaks: Counter, headLine: Gauge, headHash: Gauge) {
        self.failures = failures
        self.lag = lag
        self.breaks = breaks
        self.headLine = headLine
        self.headHash = headHash
    }

    /// Metrics that are never exported.
    package static var unregistered: AuditMetrics {
        AuditMetrics(failures: Counter(), lag: Gauge(), breaks: Counter(), headLine: Gauge(), headHash: Gauge())
    }

    func note(_ head: AuditChain) {
        headLine.set(Double(head.number))
        headHash.set(Double(head.hash.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    }
}
