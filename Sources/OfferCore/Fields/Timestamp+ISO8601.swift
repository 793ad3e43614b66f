extension Timestamp {
    /// The time in UTC with milliseconds (RFC 3339), in ASCII, such as `2026-01-01T00:00:00.000Z`. A year must have
    /// four digits, so a time outside the years 0 to 9999 becomes the nearest time within them.
    package var iso8601: [UInt8] {
        let (days, time) = Self.divide(
            Swift.min(Swift.max(milliseconds, -62_167_219_200_000), 253_402_300_799_999), by: 86_400_000)
        // Counts years from 1 March, so that the leap day comes last (H. Hinnant, "chrono-compatible low-level date
        // algorithms").
        let (era, dayOfEra) = Self.divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isAfterDecember = month >= 10
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func append(_ number: Int64, _ digits: Int, _ separator: Unicode.Scalar) {
            var divisor: Int64 = digits == 4 ? 1000 : digits == 3 ? 100 : 10
            while divisor > 0 {
                text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
                divisor /= 10
            }
            text.append(UInt8(ascii: separator))
        }
        append(yearOfEra + era * 400 + (isAfterDecember ? 1 : 0), 4, "-")
        append(isAfterDecember ? month - 9 : month + 3, 2, "-")
        append(dayOfYear - (153 * month + 2) / 5 + 1, 2, "T")
        append(time / 3_600_000, 2, ":")
        append(time / 60_000 % 60, 2, ":")
        append(time / 1000 % 60, 2, ".")
        append(time % 1000, 3, "Z")
        return text
    }

    /// Divides and rounds down, so the remainder is never negative.
    private static func divide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
        let remainder = number % divisor
        return remainder < 0 ? (number / divisor - 1, remainder + divisor) : (number / divisor, remainder)
    }
}
