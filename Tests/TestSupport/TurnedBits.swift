extension [UInt8] {
    /// Returns these bytes with one bit flipped.
    package func turningBit(_ bit: Int) -> [UInt8] {
        var bytes = self
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
    }
}
