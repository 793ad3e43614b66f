import Logging
import NIOConcurrencyHelpers
import OfferAudit
import OfferCore
import OfferEligibility
import OfferTelemetry
import TestSupport
import Testing

@Suite("Audit trail with a failing store", .timeLimit(.minutes(30)))
struct AuditTrailTests {
    /// A store in memory that fails on request.
    private final class Store: AuditStore {
        let switches: Switches
        private var chain = AuditChain.beginning

        init(_ switches: Switches) {
            self.switches = switches
        }

        var problems: [Diagnostic] { switches.problems.withLockedValue { $0 } }
        var head: AuditChain { chain }

        func takeFindings() -> [AuditFinding] {
            switches.findings.withLockedValue { findings in
                defer { findings = [] }
                return findings
            }
        }

        func checkLines() { switches.checks.withLockedValue { $0 += 1 } }

        func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {
            guard !switches.isBroken.withLockedValue({ $0 }) else { throw AuditFault("broken") }
            var (text, next) = ([UInt8](), chain)
            do { try write(&text, &next) } catch { throw AuditFault("\(error)") }
            chain = next
            let lines = String(decoding: text, as: UTF8.self)
            switches.lines.withLockedValue { $0 += lines.split(separator: "\n").map(String.init) }
        }
    }

    private final class Switches: Sendable {
        let isBroken = NIOLockedValueBox(false)
        let lines = NIOLockedValueBox([String]())
        let findings = NIOLockedValueBox([AuditFinding]())
        let problems = NIOLockedValueBox([Diagnostic]())
        let checks = NIOLockedValueBox(0)
    }

    private let switches = Switches()
    private let metrics = AuditMetrics(
        failures: Counter(), lag: Gauge(), breaks: Counter(), headLine: Gauge(), headHash: Gauge())

    private let readiness = Readiness()

    private func makeTrail(log: RecordedLog = RecordedLog()) async throws -> AuditTrail {
        try await AuditTrail(
            store: Store(switches), codes: AuditCodes(customer: { $0 }), now: { Fixtures.timestamp },
            readiness: readiness, metrics: metrics, log: log.logger)
    }

    private func entry(_ name: String, second: Int64 = 0, _ outcome: AuditEntry.Outcome) throws -> AuditEntry {
        AuditEntry(
            time: Timestamp(milliseconds: second * 1000), requestID: name, client: AuditEntry.Client(name: "-"),
            kind: .promotionalOffer, item: CatalogueItem(app: try BundleID(utf8: Array("a".utf8))), customer: nil,
            outcome: outcome)
    }

    private func signed(_ name: String) throws -> AuditEntry {
        try entry(name, .signed(Fixtures.keyID(), Nonce(utf8: Array(Fixtures.nonceText.utf8))))
    }

    private func lines(with text: String) -> Int {
        switches.lines.withLockedValue { $0.count { $0.contains(text) } }
    }

    @Test("entries added before a fault are lost, even if the store works again before the commit")
    func recoveredInBetween() async throws {
        let trail = try await makeTrail()
        let before = try #require(trail.add([signed("before")]))
        switches.isBroken.withLockedValue { $0 = true }
        // Makes the writer hit the fault.
        trail.note(try entry("refused", .refused("offer_not_served")))
        try await waitUntil { trail.fault != nil }
        #expect(try trail.add([signed("meanwhile")])?.positions == nil)
        switches.isBroken.withLockedValue { $0 = false }
        try await waitUntil { trail.fault == nil }
        let after = try #require(trail.add([signed("after")]))
        // First both in one batch, then each alone.
        var both = before
        both.merge(after)
        #expect(await !both.isDurable())
        #expect(await !before.isDurable())
        #expect(await after.isDurable())
        #expect([lines(with: "before"), lines(with: "meanwhile"), lines(with: "after")] == [0, 0, 1])
        #expect(lines(with: #""event":"resume""#) == 1)
    }

    @Test("at most 100 refusals per second are written; the number omitted follows a second later")
    func manyRefusals() async throws {
        let trail = try await makeTrail()
        for _ in 0..<250 { trail.note(try entry("refused", second: 7, .refused("offer_not_served"))) }
        trail.note(try entry("refused", second: 8, .refused("offer_not_served")))
        #expect(try await #require(trail.add([signed("last")])).isDurable())
        #expect(lines(with: #""requestID":"refused""#) == 101)
        try await waitUntil { lines(with: "omitted") == 1 }
        #expect(lines(with: #""event":"refusals omitted","count":150"#) == 1)
    }

    @Test("the number of omitted refusals is also reported after a fault")
    func omittedBeforeFault() async throws {
        let trail = try await makeTrail()
        for _ in 0..<130 { trail.note(try entry("refused", second: 7, .refused("offer_not_served"))) }
        switches.isBroken.withLockedValue { $0 = true }
        try await waitUntil { trail.fault != nil }
        #expect(trail.fault != nil)
        switches.isBroken.withLockedValue { $0 = false }
        try await waitUntil { lines(with: "omitted") == 1 }
        #expect(lines(with: #""event":"refusals omitted","count":30"#) == 1)
    }

    private func value(_ series: some Series) -> String {
        var text = ExpositionText()
        series.write(to: &text, of: Metric("metric", .gauge, [], ""), labels: [])
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test("a check without a new line raises the alarm and degrades readiness until the break is acknowledged")
    func alarm() async throws {
        let log = RecordedLog()
        let trail = try await makeTrail(log: log)
        let known = AuditChain(number: 9, hash: [UInt8](repeating: 0xAB, count: 32))
        switches.findings.withLockedValue { $0 = [.broken(AuditBreak(known: known, found: nil))] }
        switches.problems.withLockedValue { $0 = [AuditBreak.problem(line: 10)] }
        trail.checkLines()
        try await waitUntil { readiness.hasProblem(from: .audit) }
        #expect(switches.checks.withLockedValue { $0 } == 1)
        #expect(log.text.contains("critical ALARM: the audit trail no longer holds the last line"))
        #expect(value(metrics.breaks) == "metric 1\n")
        #expect(readiness.problems == [AuditBreak.problem(line: 10)])
        #expect(trail.fault == nil, "signing continues")

        // A failure and its end do not hide the break.
        switches.isBroken.withLockedValue { $0 = true }
        trail.note(try entry("refused", .refused("offer_not_served")))
        try await waitUntil { readiness.problems.count == 2 }
        switches.isBroken.withLockedValue { $0 = false }
        try await waitUntil { readiness.problems.count == 1 }
        #expect(readiness.problems == [AuditBreak.problem(line: 10)])

        switches.problems.withLockedValue { $0 = [] }
        trail.checkLines()
        try await waitUntil { !readiness.hasProblem(from: .audit) }
        #expect(value(metrics.breaks) == "metric 1\n")
    }

    @Test("the alarm sounds even while nothing can be written, and another process's mark raises one too")
    func alarmWithoutWriting() async throws {
        let log = RecordedLog()
        let trail = try await makeTrail(log: log)
        let known = AuditChain(number: 9, hash: [UInt8](repeating: 0xAB, count: 32))
        switches.findings.withLockedValue { $0 = [.broken(AuditBreak(known: known, found: nil))] }
        switches.isBroken.withLockedValue { $0 = true }
        trail.note(try entry("refused", .refused("offer_not_served")))
        try await waitUntil { log.text.contains("critical ALARM: the audit trail no longer holds the last line") }
        #expect(trail.fault != nil)
        #expect(value(metrics.breaks) == "metric 1\n")
        switches.isBroken.withLockedValue { $0 = false }
        try await waitUntil { trail.fault == nil }
        switches.findings.withLockedValue { $0 = [.markedElsewhere(line: 10)] }
        trail.checkLines()
        try await waitUntil { log.text.contains("critical ALARM: another process has marked a break") }
        #expect(value(metrics.breaks) == "metric 2\n")
    }

    @Test("the head is logged at startup and on request, and its first 48 bits are a metric")
    func head() async throws {
        let log = RecordedLog()
        let trail = try await makeTrail(log: log)
        let last = switches.lines.withLockedValue { $0.last ?? "" }
        let hash = last.dropLast(2).suffix(64)
        #expect(log.text.contains("info audit trail head") && log.text.contains(hash))
        #expect(value(metrics.headLine) == "metric 1\n")
        #expect(value(metrics.headHash) == "metric \(try #require(Int(hash.prefix(12), radix: 16)))\n")
        trail.logHead()
        try await waitUntil { log.text.ranges(of: "info audit trail head").count == 2 }
    }

    @Test("a line says which token and address made the request, and what was granted")
    func granted() async throws {
        let trail = try await makeTrail()
        let item = CatalogueItem(app: try BundleID(utf8: Array("a".utf8)))
        let client = AuditEntry.Client(
            name: "backend", tokenDigest: [UInt8](0..<32), address: IPAddress("2001:db8::1"))
        let request = try #require(try JSONObjectText(Array(#"{"operation":"x"}"#.utf8)))
        let grants: [AuditEntry.Grant] = [.introductoryOffer(isAllowed: false), .advancedCommerce(request)]
        let entries = try grants.map { grant in
            AuditEntry(
                time: Fixtures.timestamp, requestID: "id", client: client, kind: .introductoryOfferJWS, item: item,
                grant: grant, customer: nil,
                outcome: .signed(try Fixtures.keyID(), try Nonce(utf8: Array(Fixtures.nonceText.utf8))))
        }
        #expect(try await #require(trail.add(entries)).isDurable())
        #expect(lines(with: #""caller":"backend","token":"00010203","kind""#) == 2, "addresses are off")
        #expect(lines(with: #","allowIntroductoryOffer":false,"#) == 1)
        // printf %s '{"operation":"x"}' | sha256sum
        let digest = "b36ee4c6dd06bb9c1376c69990c4f0f15faa480869c24ba470c778a1b821e7e8"
        #expect(lines(with: ",\"requestSHA256\":\"\(digest)\",") == 1)
        let withAddresses = try await AuditTrail(
            store: Store(switches), codes: AuditCodes(customer: { $0 }, address: { Array("<\($0)>".utf8) }),
            now: { Fixtures.timestamp }, readiness: readiness, metrics: metrics, log: RecordedLog().logger)
        #expect(withAddresses.recordsAddresses && !trail.recordsAddresses)
        #expect(try await #require(withAddresses.add(entries)).isDurable())
        #expect(lines(with: #""token":"00010203","address":"<2001:db8::1>","kind""#) == 2)
    }
}
