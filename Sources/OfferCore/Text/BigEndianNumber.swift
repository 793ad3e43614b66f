/// A number written in bytes, the highest first.
package enum BigEndianNumber {
    /// - Returns: its size in bits, without the zeros in front.
    package static func bitCount(_ number: [UInt8]) -> Int {
        let digits = number.drop { $0 == 0 }
        return digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
    }
}
