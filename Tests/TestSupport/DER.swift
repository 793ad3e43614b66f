/// An encoder of ASN.1 DER (X.690). It encodes whatever it is told, so that tests can make
/// invalid certificates and responses. It is independent of libcrypto.
package enum DER {
    package static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    package static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }
    package static func set(_ content: [UInt8]) -> [UInt8] { value(0x31, content) }
    package static func bitString(_ bytes: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + bytes) }
    package static func octetString(_ bytes: [UInt8]) -> [UInt8] { value(0x04, bytes) }
    package static func utf8String(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }
    package static func boolean(_ isTrue: Bool) -> [UInt8] { value(0x01, [isTrue ? 0xFF : 0]) }
    package static let null: [UInt8] = [0x05, 0x00]

    package static func integer(_ number: Int) -> [UInt8] {
        var bytes = withBigEndianBytes(number).drop { $0 == 0 }
        if bytes.isEmpty || bytes[bytes.startIndex] >= 0x80 { bytes = [0] + bytes }
        return value(0x02, Array(bytes))
    }

    /// - Parameter text: in dotted form.
    package static func oid(_ text: String) -> [UInt8] {
        let arcs = text.split(separator: ".").compactMap { UInt($0) }
        return value(0x06, ([arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2)).flatMap(baseOneTwentyEight))
    }

    /// A time in a certificate, from seconds since 1970.
    package static func time(_ seconds: Int64) -> [UInt8] {
        let digits = digits(of: seconds)
        // RFC 5280 section 4.1.2.5 demands UTCTime until 2049.
        return digits < "2050" ? value(0x17, Array((digits.dropFirst(2) + "Z").utf8)) : generalizedTime(seconds)
    }

    /// - Parameter seconds: since 1970.
    package static func generalizedTime(_ seconds: Int64) -> [UInt8] {
        value(0x18, Array((digits(of: seconds) + "Z").utf8))
    }

    /// The content of the first value.
    package static func content(of der: [UInt8]) -> [UInt8] {
        guard der[1] >= 0x80 else { return Array(der[2...].prefix(Int(der[1]))) }
        let start = 2 + Int(der[1] & 0x7F)
        return Array(der[start...].prefix(der[2..<start].reduce(0) { $0 << 8 | Int($1) }))
    }

    /// The year, month, day, hour, minute and second, without separators.
    private static func digits(of seconds: Int64) -> String {
        let (days, rest) = (Int(seconds / 86400), Int(seconds % 86400))
        let (year, month, day) = civil(days)
        let numbers = [(year, 4), (month, 2), (day, 2), (rest / 3600, 2), (rest / 60 % 60, 2), (rest % 60, 2)]
        return numbers.map { number, width in
            String(repeating: "0", count: width - String(number).count) + String(number)
        }.joined()
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let bytes = withBigEndianBytes(count).drop { $0 == 0 }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    private static func withBigEndianBytes(_ number: Int) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func baseOneTwentyEight(_ arc: UInt) -> [UInt8] {
        var (digits, rest) = ([UInt8(arc & 0x7F)], arc >> 7)
        while rest > 0 {
            digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return digits
    }

    /// The date of a day, counted from 1970-01-01. Years begin in March here, so that the leap day comes last.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let (era, day) = (shifted / 146_097, shifted % 146_097)
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            era * 400 + year + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
