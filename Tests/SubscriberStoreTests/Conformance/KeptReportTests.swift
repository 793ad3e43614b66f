import OfferCore
import OfferEligibility
import OfferReports
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps reports")
struct KeptReportTests {
    private static func subject(_ number: Int = 1, asOf day: Double? = nil) throws -> ReportSubject {
        let exposure = Sample.exposure(of: Sample.account(1), .offered)
        return ReportSubject(
            ReportedOffer(
                app: Sample.production, productID: exposure.productID,
                offerID: try OfferID(utf8: Array("offer\(number)".utf8)), sample: number == 1 ? nil : "s"),
            asOf: day.map(Sample.day))
    }

    private static func withOtherCohorts(_ subject: ReportSubject) -> [ReportSubject] {
        guard case .offer(let offer, _) = subject.topic else { return [] }
        return [
            ReportSubject(offer, ReportCohorts(.month)), ReportSubject(offer, ReportCohorts(.week, .pacific)),
            ReportSubject(offer, ReportCohorts(.month, .pacific)),
        ]
    }

    @Test("a request waits until it is answered, and the result stays", arguments: StoreEngine.all)
    func answer(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let subject = try Self.subject()
            #expect(try await store.keptReports().isEmpty)
            #expect(try await store.result(of: subject) == nil)
            #expect(try await store.requestReport(subject, at: Sample.day(1)))
            // The first request counts.
            #expect(try await store.requestReport(subject, at: Sample.day(2)))
            try await store.noteProgress(of: subject, customersRead: 50)
            var kept = try #require(try await store.keptReports().first)
            #expect(kept.subject == subject)
            #expect((kept.requestedAt, kept.customersRead) == (Sample.day(1), 50))
            #expect(kept.madeAt == nil && kept.failedAt == nil)
            try await store.settleReport(subject, result: [1, 2, 3], at: Sample.day(3))
            kept = try #require(try await store.keptReports().first)
            #expect(kept.requestedAt == nil && kept.madeAt == Sample.day(3))
            #expect(try await store.result(of: subject) == [1, 2, 3])
        }
    }

    @Test("a failure keeps the earlier result, and the next result ends the failure", arguments: StoreEngine.all)
    func failure(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let subject = try Self.subject(2, asOf: 40)
            for (day, result) in [(1, [1]), (2, nil), (3, [3])] as [(Double, [UInt8]?)] {
                #expect(try await store.requestReport(subject, at: Sample.day(day)))
                try await store.settleReport(subject, result: result, at: Sample.day(day))
                let kept = try #require(try await store.keptReports().first)
                #expect(kept.requestedAt == nil && kept.customersRead == 0)
                #expect(kept.failedAt == (result == nil ? Sample.day(2) : nil))
                #expect(try await store.result(of: subject) == (day < 3 ? [1] : [3]))
            }
        }
    }

    @Test("a time, a sample and an offer each have reports of their own", arguments: StoreEngine.all)
    func subjects(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let subjects =
                try [Self.subject(), Self.subject(asOf: 0), Self.subject(asOf: 1), Self.subject(2)]
                + ReportZone.allCases.map { ReportSubject(.subscriptions(Sample.production, $0)) }
                + [ReportSubject(.subscriptions(Sample.production, .utc), asOf: Sample.day(1))]
                + [Self.subject(), Self.subject(2)].flatMap(Self.withOtherCohorts)
            for subject in subjects { #expect(try await store.requestReport(subject, at: Sample.day(1))) }
            try await store.settleReport(subjects[1], result: [9], at: Sample.day(1))
            #expect(Set(try await store.keptReports().map(\.subject)) == Set(subjects))
            #expect(try await store.keptReports().count { $0.requestedAt == nil } == 1)
            #expect(try await store.result(of: subjects[0]) == nil)
        }
    }

    @Test("the oldest result makes room for a request, and a waiting one does not", arguments: StoreEngine.all)
    func limit(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for number in 1...KeptReport.maximumCount {
                #expect(try await store.requestReport(Self.subject(number), at: Sample.day(1)))
            }
            let extra = try Self.subject(KeptReport.maximumCount + 1)
            #expect(try await !store.requestReport(extra, at: Sample.day(2)))
            #expect(try await store.requestReport(Self.subject(7), at: Sample.day(2)))
            try await store.settleReport(Self.subject(8), result: [8], at: Sample.day(4))
            try await store.settleReport(Self.subject(9), result: [9], at: Sample.day(3))
            try await store.settleReport(Self.subject(10), result: nil, at: Sample.day(4))
            // A report that was never made is deleted first.
            #expect(try await store.requestReport(Self.subject(KeptReport.maximumCount + 2), at: Sample.day(5)))
            #expect(try await store.keptReports().map(\.subject).contains(Self.subject(9)))
            #expect(try await store.requestReport(extra, at: Sample.day(5)))
            let kept = Set(try await store.keptReports().map(\.subject))
            #expect(kept.count == KeptReport.maximumCount && kept.contains(extra))
            #expect(try kept.contains(Self.subject(8)) && !kept.contains(Self.subject(9)))
        }
    }

    @Test(
        "reports about earlier times make room only for one another, and only for those of their app",
        arguments: StoreEngine.all)
    func earlierTimes(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let current = try Self.subject()
            #expect(try await store.requestReport(current, at: Sample.day(0)))
            try await store.settleReport(current, result: [1], at: Sample.day(0))
            let earlier = try (1...KeptReport.maximumEarlier).map { try Self.subject(asOf: Double($0)) }
            for subject in earlier { #expect(try await store.requestReport(subject, at: Sample.day(1))) }
            let extra = try Self.subject(asOf: 0)
            #expect(try await !store.requestReport(extra, at: Sample.day(2)), "all of them are waiting")
            #expect(try await store.requestReport(earlier[3], at: Sample.day(2)))
            let other = ReportSubject(.subscriptions(Sample.sandbox, .utc), asOf: Sample.day(1))
            #expect(try await store.requestReport(other, at: Sample.day(2)))
            #expect(try await store.requestReport(Self.subject(2), at: Sample.day(2)))
            for subject in earlier { try await store.settleReport(subject, result: [2], at: Sample.day(3)) }
            #expect(try await store.requestReport(extra, at: Sample.day(4)))
            let kept = Set(try await store.keptReports().map(\.subject))
            #expect(kept.count == KeptReport.maximumEarlier + 3)
            #expect(kept.contains(current) && kept.contains(extra) && kept.contains(other))
        }
    }
}
