import OfferCore
import Testing

@testable import OfferConsole

@Suite("Times")
struct ClockTests {
    @Test(
        "a time is formatted in UTC",
        arguments: [
            (0, "1970-01-01 00:00:00"), (-1, "1969-12-31 23:59:59"), (951_782_400_000, "2000-02-29 00:00:00"),
            (1_795_769_220_000, "2026-11-27 08:47:00"), (4_107_542_399_999, "2100-02-28 23:59:59"),
            (-62_135_596_800_000, "0001-01-01 00:00:00"), (253_402_300_800_000, "10000-01-01 00:00:00"),
        ] as [(Int64, String)])
    func formatting(milliseconds: Int64, text: String) {
        #expect(ConsoleClock.utc.second(Timestamp(milliseconds: milliseconds)) == text)
    }

    @Test("an offset moves the time and is named")
    func offsets() throws {
        let time = Timestamp(milliseconds: 1_795_769_220_000)
        let texts = try [60, -210, 345, 840].map { minutes in
            let clock = try #require(ConsoleClock(offsetMinutes: minutes))
            return clock.name + " " + clock.minute(time)
        }
        #expect(
            texts == [
                "UTC+1 2026-11-27 09:47", "UTC−3:30 2026-11-27 05:17", "UTC+5:45 2026-11-27 14:32",
                "UTC+14 2026-11-27 22:47",
            ])
        #expect(ConsoleClock(offsetMinutes: 61) == nil)
        #expect(ConsoleClock(offsetMinutes: .max) == nil)
    }

    @Test("extreme times do not trap", arguments: [Int64.min, .max])
    func extremes(milliseconds: Int64) throws {
        let time = Timestamp(milliseconds: milliseconds)
        let clock = try #require(ConsoleClock(offsetMinutes: milliseconds < 0 ? -720 : 840))
        #expect(!clock.second(time).isEmpty)
        #expect(!RelativeTime.words(time, now: Timestamp(milliseconds: -(milliseconds / 2))).isEmpty)
    }

    @Test("the start of a month is the inverse of its parts", arguments: [-1, 0, 1970, 2000, 2024, 2026, 2100, 9999])
    func months(year: Int) {
        for month in 1...12 {
            let civil = CivilTime(CivilTime.start(year: year, month: month))
            #expect([civil.year, civil.month, civil.day, civil.hour] == [year, month, 1, 0])
        }
        #expect(CivilTime.start(year: year, month: 13) == CivilTime.start(year: year + 1, month: 1))
        #expect(CivilTime.start(year: year, month: 0) == CivilTime.start(year: year - 1, month: 12))
    }

    @Test(
        "a distance is in words",
        arguments: [
            (0, "now"), (59_999, "now"), (-60_000, "1 minute ago"), (7_200_000, "in 2 hours"),
            (-86_400_000 * 3, "3 days ago"), (86_400_000 * 90, "in 90 days"), (86_400_000 * 100, "in 3 months"),
            (-86_400_000 * 800, "2 years ago"),
        ] as [(Int64, String)])
    func distances(milliseconds: Int64, words: String) {
        let now = Timestamp(milliseconds: 1_795_769_220_000)
        #expect(RelativeTime.words(Timestamp(milliseconds: now.milliseconds + milliseconds), now: now) == words)
    }
}
