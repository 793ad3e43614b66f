package import OfferCore

/// The times of a console's pages: in UTC, or with an offset that the person chose.
package struct ConsoleClock: Equatable, Sendable {
    /// The offset from UTC in minutes; east is positive.
    package let offsetMinutes: Int

    package static let utc = ConsoleClock(offset: 0)

    /// The offsets in use anywhere, in minutes.
    package static let offsets: [Int] = [
        -720, -660, -600, -570, -540, -480, -420, -360, -300, -240, -210, -180, -150, -120, -60, 0, 60, 120, 180, 210,
        240, 270, 300, 330, 345, 360, 390, 420, 480, 525, 540, 570, 600, 630, 660, 720, 765, 780, 825, 840,
    ]

    /// - Returns: nil unless the offset is in use somewhere.
    package init?(offsetMinutes: Int) {
        guard Self.offsets.contains(offsetMinutes) else { return nil }
        self.offsetMinutes = offsetMinutes
    }

    private init(offset: Int) { offsetMinutes = offset }

    /// `UTC`, `UTC+1` or `UTC−3:30`.
    package var name: String {
        guard offsetMinutes != 0 else { return "UTC" }
        let (hours, minutes) = abs(offsetMinutes).quotientAndRemainder(dividingBy: 60)
        return "UTC" + (offsetMinutes < 0 ? "−" : "+") + String(hours) + (minutes == 0 ? "" : ":" + twoDigits(minutes))
    }

    /// `2026-11-27`
    package func date(_ time: Timestamp) -> String { CivilTime(shifted(time)).dateText }

    /// `2026-11-27 08:47`
    package func minute(_ time: Timestamp) -> String {
        let civil = CivilTime(shifted(time))
        return civil.dateText + " " + civil.minuteText
    }

    /// `2026-11-27 08:47:12`
    package func second(_ time: Timestamp) -> String {
        minute(time) + ":" + twoDigits(CivilTime(shifted(time)).second)
    }

    /// The time in UTC for the attribute `datetime`: `2026-11-27T08:47:12Z`.
    static func machineText(_ time: Timestamp) -> String {
        let civil = CivilTime(time)
        return civil.dateText + "T" + civil.minuteText + ":" + twoDigits(civil.second) + "Z"
    }

    func shifted(_ time: Timestamp) -> Timestamp {
        let (sum, overflows) = time.milliseconds.addingReportingOverflow(Int64(offsetMinutes) * 60_000)
        return overflows ? time : Timestamp(milliseconds: sum)
    }
}

/// The number with at least two digits.
func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
