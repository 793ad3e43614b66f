import Logging
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferServer
import TestSupport
import Testing

/// The audit trail in front of a store that fails when the test says so.
@Suite("Audit trail in front of a store that fails", .timeLimit(.minutes(2)))
struct AuditTrailTests {
    /// Keeps lines in memory.
    private final class Store: AuditStore {
        let switches: Switches
        private var chain = AuditChain.beginning

        init(_ switches: Switches) {
            self.switches = switches
        }

        var warning: SetupProblem? { nil }

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
            store: Store(switches), code: { $0 }, sha256: SHA256.hash(_:_:), now: { Fixtures.timestamp },
            readiness: Readiness(), metrics: ServiceMetrics(), log: log.logger)
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

    @Test("what was added before a fault is lost, although the store is good again when somebody asks")
    func recoveredInBetween() async throws {
        let trail = try await makeTrail()
        let before = try trail.add([signed("before")])
        switches.isBroken.withLockedValue { $0 = true }
        // Has the writer meet the fault.
        trail.note(try entry("refused", .refused("offer_not_served")))
        try await waitUntil { trail.fault != nil }
        #expect(throws: Problem.auditUnavailable) { try trail.add([signed("meanwhile")]) }
        switches.isBroken.withLockedValue { $0 = false }
        try await waitUntil { trail.fault == nil }
        let after = try trail.add([signed("after")])
        // Both of one batch; then each by itself.
        #expect(await !trail.isWritten(before.union(after)))
        #expect(await !trail.isWritten(before))
        #expect(await trail.isWritten(after))
        #expect([lines(with: "before"), lines(with: "meanwhile"), lines(with: "after")] == [0, 0, 1])
        #expect(lines(with: #""event":"resume""#) == 1)
    }

    @Test("of refusals a hundred are told in a second, and a second later how many more there were")
    func manyRefusals() async throws {
        let trail = try await makeTrail()
        for _ in 0..<250 { trail.note(try entry("refused", second: 7, .refused("offer_not_served"))) }
        trail.note(try entry("refused", second: 8, .refused("offer_not_served")))
        #expect(await trail.isWritten(try trail.add([signed("last")])))
        #expect(lines(with: #""requestID":"refused""#) == 101)
        try await waitUntil { lines(with: "omitted") == 1 }
        #expect(lines(with: #""event":"refusals omitted","count":150"#) == 1)
    }

    @Test("how many refusals were left out is told after a fault as well")
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
