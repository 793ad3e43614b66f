/// A number stored as bytes, most significant first.
package enum BigEndianNumber {
    /// - Returns: the size of the number in bits, without leading zeros.
    package static func bitCount(_ number: [UInt8]) -> Int {
        let digits = number.drop { $0 == 0 }
        return digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
    }
}
