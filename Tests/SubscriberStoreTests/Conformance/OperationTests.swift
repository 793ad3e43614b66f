import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store is operated")
struct OperationTests {
    @Test("counts and times are known for each app and environment", arguments: StoreEngine.all)
    func intakes(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            #expect(try await store.intakes() == [])
            _ = try await store.apply(Sample.delivery("n1", Sample.facts(1), received: 5))
            _ = try await store.apply(Sample.delivery("n2", Sample.facts(1), received: 3))
            try await store.merge(Sample.facts(2), in: Sample.sandbox)
            let production = Intake(
                app: Sample.production, notifications: 2, subscriptions: 1, erasedSubscriptions: 0,
                lastReceivedAt: Sample.day(5), lastSignedDate: Sample.day(5))
            let sandbox = Intake(
                app: Sample.sandbox, notifications: 0, subscriptions: 1, erasedSubscriptions: 0, lastReceivedAt: nil,
                lastSignedDate: nil)
            #expect(try await store.intakes() == [production, sandbox])
            #expect(try await store.check() == [])
        }
    }

    @Test("an export fills another store with the same records, also when repeated", arguments: StoreEngine.all)
    func transfer(engine: StoreEngine) async throws {
        let (lines, records) = try await engine.withStore { store in
            try await self.fill(store)
            return (try await self.export(store), try await store.records())
        }
        #expect(records.count > 10)
        for name in ["offerEvent", "retentionShown", "sampleSize", "exposure", "authorisation", "teamFact", "link"] {
            #expect(records.contains { $0.contains("\"record\":\"\(name)\"") }, "\(name)")
        }
        try await engine.withStore { store in
            for _ in 0..<2 {
                #expect(try await self.load(lines, into: store) == records.count)
                #expect(try await store.records() == records)
            }
            #expect(try await store.customer(Sample.account(77)) != nil)
            let due = try await store.claimForwards(
                to: "https://a.example", dueAt: Sample.day(9), leaseEnd: Sample.day(10), limit: 9)
            #expect(due.map(\.contentID) == ["n1", "n3"])
        }
    }

    @Test("an export that is cut off or altered is refused", arguments: StoreEngine.all)
    func damagedExport(engine: StoreEngine) async throws {
        let lines = try await engine.withStore { store in
            try await self.fill(store)
            return try await self.export(store)
        }
        let last = lines.count - 1
        let damaged: [[[UInt8]]] = [
            [], Array(lines.dropLast()), Array(lines.dropFirst()), Array(lines[0..<2] + lines[3...]),
            lines[0..<last] + [Array("{}".utf8)], lines[0..<last] + [Array("{".utf8)],
            [Array("{\"format\":2}".utf8)] + lines.dropFirst(),
        ]
        for lines in damaged {
            try await engine.withStore { store in
                await #expect(throws: TransferError.self) { try await self.load(lines, into: store) }
            }
        }
    }

    /// Stores a record of every kind.
    private func fill(_ store: any SubscriberStore) async throws {
        for (name, number) in [("n1", 1), ("n2", 1), ("n3", 2), ("n4", 3)] {
            _ = try await store.apply(
                Sample.delivery(name, Sample.facts(number), received: Double(number), to: ["https://a.example"]))
        }
        // Only a fact that was replaced names account 77.
        let original = Sample.facts(2)[0].originalTransactionID.text.description
        let replaced = Sample.transaction(original, of: original, signed: -1) { $0.appAccountToken = Sample.token(77) }
        try await store.merge([replaced], in: Sample.production)
        _ = try await store.apply(Sample.delivery("test", [], in: Sample.sandbox))
        _ = try await store.erase(Sample.account(3), in: Sample.production)
        let values: [FieldText: TeamFactValue?] = [
            Sample.text("text"): .text(Array("\"a\\".utf8)), Sample.text("number"): .number(Array("-1".utf8)),
            Sample.text("bool"): .bool(false),
        ]
        let tracked: Set = [Sample.text("text"), Sample.text("number"), Sample.text("bool")]
        try await store.setTeamFacts(
            values, of: Sample.account(1), in: Sample.production, tracking: tracked, at: Sample.day(1))
        try await store.setTeamFacts(
            [Sample.text("text"): nil, Sample.text("number"): .number(Array("2".utf8))], of: Sample.account(1),
            in: Sample.production, tracking: tracked, at: Sample.day(2))
        for identifier: CustomerIdentifier in [
            .applicationUsername(Sample.text("u")), .appTransactionID(Sample.id("a")), .transactionID(Sample.id("t")),
            .originalTransactionID(Sample.id("o")),
        ] {
            try await store.link(
                identifier, to: Sample.account(1).account, in: Sample.production, at: Sample.day(2))
        }
        for number in [1, 3] as [UInt64] {
            let exposure = Sample.exposure(of: Sample.account(number), .heldOut, sample: "s")
            let request = LedgerRequest(
                app: Sample.production, holders: [Sample.account(number)],
                offers: [
                    Sample.offer(
                        nonces: [number], expiresAt: 2,
                        source: OfferSource(rule: "r", channel: .retention, retentionCase: 3),
                        exposures: [Sample.exposure(of: Sample.account(number), .offered)])
                ], reserving: .all, exposures: [exposure], at: Sample.day(1))
            _ = try await store.reserve(request)
        }
        let switched = RenewalChange(
            type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED",
            renewal: Renewal(productID: try ProductID(utf8: Array("monthly".utf8)), autoRenewStatus: .off))
        let change = Sample.fact(.renewalChange(switched), "c", of: original, signed: 1)
        try await store.merge([change], in: Sample.production)
        for number in [1, 3] as [UInt64] {
            let reports = [
                OfferEventReport(kind: .shown, offer: .signed(Sample.nonce(number)), at: Sample.day(1)),
                OfferEventReport(kind: .failed, offer: .signed(Sample.nonce(number)), at: Sample.day(1), error: "e"),
            ]
            _ = try await store.record(reports, of: Sample.production, onlyOf: nil)
        }
        let size = SampleSize(app: Sample.production, sample: "s", share: 0.9, since: Sample.day(1))
        try await store.add([.sampleSize(size)])
        for number in [1, 3] as [UInt64] {
            try await store.record(Sample.shown(number), in: Sample.production)
            try await store.record(Sample.shown(number, answer: "second"), in: Sample.production)
        }
        _ = try await store.erase(Sample.account(3), in: Sample.production)
        _ = try await store.erase(.originalTransactionID(Sample.id("3")), in: Sample.production)
        let dead = try await store.claimForwards(
            to: "https://a.example", dueAt: Sample.day(9), leaseEnd: Sample.day(9), limit: 1)
        for forward in dead { try await store.settle(forward.id, .failed(nextAttempt: Sample.day(9))) }
    }

    private func export(_ store: any SubscriberStore) async throws -> [[UInt8]] {
        let lines = Lines()
        _ = try await StoreExport(of: store).run { line, _ in lines.add(Array(line.dropLast())) }
        return lines.all
    }

    private func load(_ lines: [[UInt8]], into store: any SubscriberStore) async throws -> Int {
        var rest = lines[...]
        return try await StoreImport(into: store).run {
            rest.popFirst()
        } progress: { _ in
        }
    }
}
