import OfferCore

/// The parts of a time in the proleptic Gregorian calendar, without an offset.
struct CivilTime {
    let year: Int
    /// 1 to 12.
    let month: Int
    /// 1 to 31.
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int

    static let millisecondsInDay: Int64 = 86_400_000
    private static let daysInEra: Int64 = 146_097

    init(_ time: Timestamp) {
        let milliseconds = time.milliseconds
        let days = Self.floorDivide(milliseconds, Self.millisecondsInDay)
        let remainder = milliseconds % Self.millisecondsInDay
        let inDay = Int((remainder < 0 ? remainder + Self.millisecondsInDay : remainder) / 1000)
        hour = inDay / 3600
        minute = inDay / 60 % 60
        second = inDay % 60
        // Years here begin on 1 March, so that the leap day is the last one. An era has 400 years.
        let sinceEpoch = days + 719_468
        let era = Self.floorDivide(sinceEpoch, Self.daysInEra)
        let dayOfEra = sinceEpoch - era * Self.daysInEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    /// The start of a month. Months outside 1 to 12 are in earlier or later years.
    static func start(year: Int, month: Int) -> Timestamp {
        let months = Int64(year) * 12 + Int64(month) - 3
        let (marchYear, shiftedMonth) = (floorDivide(months, 12), months - floorDivide(months, 12) * 12)
        let era = floorDivide(marchYear, 400)
        let yearOfEra = marchYear - era * 400
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + (153 * shiftedMonth + 2) / 5
        return Timestamp(milliseconds: (era * daysInEra + dayOfEra - 719_468) * millisecondsInDay)
    }

    var dateText: String {
        let digits = String(abs(year))
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return (year < 0 ? "-" : "") + padded + "-" + twoDigits(month) + "-" + twoDigits(day)
    }

    var minuteText: String { twoDigits(hour) + ":" + twoDigits(minute) }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
