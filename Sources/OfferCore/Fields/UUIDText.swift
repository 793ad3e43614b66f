/// A UUID in the form that is signed and sent: 36 ASCII bytes with lower-case hexadecimal digits.
///
/// Foundation prints UUIDs in upper case, and the App Store rejects signatures over that form.
package struct UUIDText: Hashable, Sendable {
    package let utf8: [UInt8]

    /// - Parameter utf8: `8-4-4-4-12` hexadecimal digits in either letter case, and nothing else.
    /// - Returns: nil for any other text.
    package init?(parsing utf8: [UInt8]) {
        guard utf8.count == 36 else { return nil }
        var lowerCase = utf8
        for index in utf8.indices {
            switch utf8[index] {
            case UInt8(ascii: "-") where Self.isHyphen(at: index): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9") where !Self.isHyphen(at: index): continue
            case UInt8(ascii: "a")...UInt8(ascii: "f") where !Self.isHyphen(at: index): continue
            case UInt8(ascii: "A")...UInt8(ascii: "F") where !Self.isHyphen(at: index): lowerCase[index] |= 0x20
            default: return nil
            }
        }
        self.utf8 = lowerCase
    }

    /// - Parameters:
    ///   - high: the first eight bytes of the UUID, most significant first.
    ///   - low: the last eight bytes.
    package init(high: UInt64, low: UInt64) {
        var utf8: [UInt8] = []
        utf8.reserveCapacity(36)
        for half in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                if Self.isHyphen(at: utf8.count) { utf8.append(UInt8(ascii: "-")) }
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(shift)) & 0xF
                utf8.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        self.utf8 = utf8
    }

    /// - Parameter bytes: the 16 bytes of the UUID.
    /// - Returns: nil for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    /// The 16 bytes of the UUID.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var high: UInt8?
        for digit in utf8 where digit != UInt8(ascii: "-") {
            let value = digit < UInt8(ascii: "a") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
            if let first = high.take() { bytes.append(first << 4 | value) } else { high = value }
        }
        return bytes
    }

    private static func isHyphen(at index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }
}

extension UUIDText: CustomStringConvertible {
    package var description: String { String(decoding: utf8, as: UTF8.self) }
}
