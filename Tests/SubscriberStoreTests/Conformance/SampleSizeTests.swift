import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store keeps the sizes of samples")
struct SampleSizeTests {
    private static func begin(_ share: Double?, on day: Double, _ store: any SubscriberStore) async throws {
        let samples = share.map { ["s": $0] } ?? [:]
        try await store.beginLedger(
            LedgerCoverage(apps: [Sample.production], samples: [Sample.production: samples]), at: Sample.day(day))
    }

    @Test("a sample keeps the size with which the service first ran, also in a copy", arguments: StoreEngine.all)
    func first(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await Self.begin(nil, on: 0, store)
            #expect(try await store.sampleSizes() == [])
            try await Self.begin(0.8, on: 1, store)
            let drawn = SampleSize(app: Sample.production, sample: "s", share: 0.8, since: Sample.day(1))
            #expect(try await store.sampleSizes() == [drawn])
            for share in [0.5, nil, 0.8] {
                try await Self.begin(share, on: 2, store)
                #expect(try await store.sampleSizes() == [drawn])
            }
            let lines = try await store.records()
            #expect(lines.contains { $0.contains(#""record":"sampleSize""#) && $0.contains(#""share":"0.8""#) })
            let records = try await store.everyRecord()
            try await engine.withStore { copy in
                for _ in 0..<2 { try await copy.add(records) }
                #expect(try await copy.records() == lines)
                #expect(try await copy.sampleSizes() == [drawn])
            }
        }
    }

    @Test("exposures of an older version give a sample the size in force", arguments: StoreEngine.all)
    func older(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let exposure = Sample.exposure(of: Sample.account(1), .offered, sample: "s")
            try await store.add([.exposure(Sample.production, exposure)])
            #expect(try await store.sampleSizes() == [])
            try await Self.begin(0.5, on: 2, store)
            #expect(try await store.sampleSizes().map(\.share) == [0.5])
        }
    }
}
