/// A day of the Gregorian calendar.
struct CivilDay: Hashable, Comparable {
    static let milliseconds: Int64 = 86_400_000

    /// The number of days since 1970-01-01.
    let number: Int64

    /// - Parameter local: milliseconds since 1970 on a local clock.
    init(containing local: Int64) { self.init(number: Self.divide(local, Self.milliseconds)) }

    init(number: Int64) { self.number = number }

    /// - Parameter month: months outside 1 to 12 are in earlier or later years.
    init(year: Int64, month: Int64, day: Int64) {
        // Years here begin on 1 March, so that the leap day is the last one.
        let months = year * 12 + month - 3
        let (march, inYear) = (Self.divide(months, 12), months - Self.divide(months, 12) * 12)
        let days = march * 365 + Self.divide(march, 4) - Self.divide(march, 100) + Self.divide(march, 400)
        self.init(number: days + (153 * inYear + 2) / 5 + day - 1 - 719_468)
    }

    /// - Parameter text: such as `2026-11-20`.
    /// - Returns: nil for any other text, and for a day that does not exist.
    init?(text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = Int64(parts[0]), let month = Int64(parts[1]),
            let day = Int64(parts[2]), (1...12).contains(month)
        else { return nil }
        self.init(year: year, month: month, day: day)
        guard self.text == text else { return nil }
    }

    /// Midnight at the beginning of the day, in milliseconds on the local clock.
    var start: Int64 { number * Self.milliseconds }

    var monday: CivilDay { CivilDay(number: number - (number + 3 - Self.divide(number + 3, 7) * 7)) }

    static func sunday(_ place: Int64, year: Int64, month: Int64) -> CivilDay {
        let first = CivilDay(year: year, month: month, day: 1)
        return CivilDay(number: first.monday.number + 6 + (place - 1) * 7)
    }

    var firstOfMonth: CivilDay { CivilDay(year: year, month: month, day: 1) }

    var firstOfNextMonth: CivilDay { CivilDay(year: year, month: month + 1, day: 1) }

    /// The same day of a later month, or its last day if it is shorter.
    func adding(months: Int64) -> CivilDay {
        let (year, month, day) = parts
        let first = CivilDay(year: year, month: month + months, day: 1)
        return CivilDay(number: min(first.number + day, first.firstOfNextMonth.number) - 1)
    }

    var year: Int64 { parts.year }

    private var month: Int64 { parts.month }

    /// Such as `2026-11-20`.
    var text: String {
        let (year, month, day) = parts
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    static func < (left: CivilDay, right: CivilDay) -> Bool { left.number < right.number }

    /// Source: H. Hinnant, "chrono-compatible low-level date algorithms".
    private var parts: (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let era = Self.divide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let inYear = (5 * dayOfYear + 2) / 153
        let month = inYear < 10 ? inYear + 3 : inYear - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * inYear + 2) / 5 + 1)
    }

    private static func divide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
