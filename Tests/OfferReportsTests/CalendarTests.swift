import OfferCore
import Testing

@testable import OfferReports

@Suite("Days of reports")
struct CalendarTests {
    private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: Array(text.utf8)[...])) }

    @Test(
        "a cohort begins at midnight of the zone",
        arguments: [
            ("2026-11-22T23:59:59Z", CohortSpan.week, ReportZone.utc, "2026-11-16"),
            ("2026-11-23T00:00:00Z", .week, .utc, "2026-11-23"),
            ("2026-11-23T07:59:59Z", .week, .pacific, "2026-11-16"),
            ("2026-11-23T08:00:00Z", .week, .pacific, "2026-11-23"),
            ("2026-07-01T06:59:59Z", .month, .pacific, "2026-06-01"),
            ("2026-07-01T07:00:00Z", .month, .pacific, "2026-07-01"),
            ("2024-02-29T12:00:00Z", .month, .utc, "2024-02-01"),
            ("1969-12-31T12:00:00Z", .week, .utc, "1969-12-29"),
        ])
    func cohorts(text: String, span: CohortSpan, zone: ReportZone, first: String) throws {
        #expect(span.first(containing: try time(text), in: zone).text == first)
    }

    @Test("summer time begins and ends at two o'clock in the zone")
    func summerTime() throws {
        func local(_ text: String) throws -> Int64 {
            let time = try time(text)
            return (ReportZone.pacific.local(time) - time.milliseconds) / 3_600_000
        }
        #expect(try local("2026-03-08T09:59:59Z") == -8)
        #expect(try local("2026-03-08T10:00:00Z") == -7)
        #expect(try local("2026-11-01T08:59:59Z") == -7)
        #expect(try local("2026-11-01T09:00:00Z") == -8)
    }

    @Test("a local midnight is the time at which the zone's clock shows it")
    func midnights() throws {
        for number in Int64(20_000)..<20_800 {
            let start = CivilDay(number: number).start
            #expect(ReportZone.pacific.local(ReportZone.pacific.time(local: start)) == start)
        }
    }

    @Test("days count through leap years")
    func days() {
        var day = CivilDay(year: 1996, month: 1, day: 1)
        #expect(day.number == 9496)
        for year in Int64(1996)..<2101 {
            #expect(day.text == "\(year)-01-01")
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            day = CivilDay(number: day.number + (isLeap ? 366 : 365))
        }
        #expect(CohortSpan.month.next(after: CivilDay(year: 2026, month: 12, day: 1)).text == "2027-01-01")
    }
}
