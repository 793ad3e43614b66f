import OfferCore

/// The ticks of an axis of time: starts of days, months or years, at most about `count`.
struct TimeTicks {
    struct Tick {
        let time: Timestamp
        let label: String
    }

    let ticks: [Tick]

    private static let day = CivilTime.millisecondsInDay

    /// - Parameters:
    ///   - end: after `start`; at most 1,000 years later.
    init(from start: Timestamp, to end: Timestamp, clock: ConsoleClock, count: Int = 8) {
        let (shiftedStart, shiftedEnd) = (clock.shifted(start), clock.shifted(end))
        let days = (shiftedEnd.milliseconds - shiftedStart.milliseconds) / Self.day
        let first = CivilTime(shiftedStart)
        let starts: [Timestamp]
        if days <= 60 {
            let step = max(1, Int64([1, 2, 7, 14].first { days / $0 <= Int64(count) } ?? 14)) * Self.day
            let midnight = shiftedStart.milliseconds - (shiftedStart.milliseconds % Self.day + Self.day) % Self.day
            starts = stride(from: midnight, through: shiftedEnd.milliseconds, by: Int64.Stride(step))
                .map { Timestamp(milliseconds: $0) }
        } else {
            let months = Int(days / 30)
            let steps = [1, 2, 3, 6, 12, 24, 60, 120, 1200, 12_000]
            let step = steps.first { months / $0 <= count } ?? 12_000
            let month = (first.month - 1) / step * step + 1
            let year = step > 12 ? first.year - first.year % (step / 12) : first.year
            starts = (0...(months / step + 2)).map { CivilTime.start(year: year, month: month + $0 * step) }
        }
        ticks = starts.filter { shiftedStart <= $0 && $0 <= shiftedEnd }.map { time in
            let text = ConsoleClock.utc.date(time)
            let label = days <= 60 ? String(text.dropFirst(5)) : String(text.dropLast(3))
            return Tick(
                time: Timestamp(milliseconds: time.milliseconds - Int64(clock.offsetMinutes) * 60_000), label: label)
        }
    }
}
