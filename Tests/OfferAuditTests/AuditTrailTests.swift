import Logging
import NIOConcurrencyHelpers
import OfferAudit
import OfferCore
import OfferTelemetry
import TestSupport
import Testing

@Suite("Audit trail with a failing store", .timeLimit(.minutes(2)))
struct AuditTrailTests {
    /// A store in memory that fails on request.
    private final class Store: AuditStore {
        let switches: Switches
        private var chain = AuditChain.beginning

        init(_ switches: Switches) {
            self.switches = switches
        }

        var warning: Diagnostic? { nil }

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
    }

    private let switches = Switches()

    private func makeTrail(log: RecordedLog = RecordedLog()) async throws -> AuditTrail {
        try await AuditTrail(
            store: Store(switches), customerCode: { $0 }, now: { Fixtures.timestamp },
            readiness: Readiness(), metrics: AuditMetrics(failures: Counter(), lag: Gauge()), log: log.logger)
    }

    private func entry(_ name: String, second: Int64 = 0, _ outcome: AuditEntry.Outcome) throws -> AuditEntry {
        AuditEntry(
            time: Timestamp(milliseconds: second * 1000), requestID: name, caller: "-", kind: .promotionalOffer,
            item: CatalogueItem(app: try BundleID(utf8: Array("a".utf8))), customer: nil, outcome: outcome)
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
}
