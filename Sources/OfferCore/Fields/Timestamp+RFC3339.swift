extension Timestamp {
    /// Parses a date and time of RFC 3339, such as `2020-07-22T17:39:06Z`.
    ///
    /// The offset may lack its colon, as in Xcode's `+0300`. Digits beyond milliseconds are dropped.
    /// - Returns: nil for any other text, and for a day or a time that does not exist.
    package init?(rfc3339 text: ArraySlice<UInt8>) {
        var reader = DateReader(rest: text)
        guard let year = reader.number(4, 0...9999), reader.skip("-"), let month = reader.number(2, 1...12),
            reader.skip("-"), let day = reader.number(2, 1...Self.dayCount(of: month, in: year)), reader.skip("T"),
            let hour = reader.number(2, 0...23), reader.skip(":"), let minute = reader.number(2, 0...59),
            reader.skip(":"), let second = reader.number(2, 0...59), let millisecond = reader.fraction(),
            let offset = reader.offset(), reader.rest.isEmpty
        else { return nil }
        let seconds = (Self.days(to: year, month, day) * 24 + hour) * 3600 + (minute - offset) * 60 + second
        self.init(milliseconds: seconds * 1000 + millisecond)
    }

    /// Parses a date such as `2026-11-20`, which stands for the beginning of that day in UTC, or a date and time of RFC 3339.
    package init?(dateOrTime text: String) {
        let bytes = Array(text.utf8)
        self.init(rfc3339: (bytes.count == 10 ? bytes + Array("T00:00:00Z".utf8) : bytes)[...])
    }

    private static func dayCount(of month: Int64, in year: Int64) -> Int64 {
        let isLeapYear = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        return switch month {
        case 2: isLeapYear ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days from 1970-01-01 to a date in the Gregorian calendar. The year must be 0 or later.
    private static func days(to year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Counts years from 1 March, so that the leap day comes last. The offset of 400 years avoids negative numbers.
        let year = year + (month > 2 ? 400 : 399)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468 - 146_097
    }
}

private struct DateReader {
    var rest: ArraySlice<UInt8>

    /// Reads a number of exactly `count` digits.
    mutating func number(_ count: Int, _ range: ClosedRange<Int64>) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = popDigit() else { return nil }
            number = number * 10 + digit
        }
        return range.contains(number) ? number : nil
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads an optional fraction of a second with 1 to 9 digits.
    /// - Returns: the fraction in milliseconds; nil if it has no digits or more than nine.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        var (milliseconds, unit, count): (Int64, Int64, Int) = (0, 100, 0)
        while let digit = popDigit() {
            milliseconds += digit * unit
            unit /= 10
            count += 1
        }
        return (1...9).contains(count) ? milliseconds : nil
    }

    /// Reads `Z`, or an offset from UTC with or without a colon.
    /// - Returns: the offset in minutes; nil if it is invalid.
    mutating func offset() -> Int64? {
        if skip("Z") { return 0 }
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = number(2, 0...23) else { return nil }
        _ = skip(":")
        guard let minutes = number(2, 0...59) else { return nil }
        return (hours * 60 + minutes) * (isNegative ? -1 : 1)
    }

    private mutating func popDigit() -> Int64? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        rest = rest.dropFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
