extension [UInt8] {
    /// These bytes with one bit turned.
    package func turningBit(_ bit: Int) -> [UInt8] {
        var bytes = self
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
    }
}
