extension Collection<UInt8> {
    /// Returns true if these bytes equal `lowerCase`, an ASCII string in lower case, ignoring ASCII letter case.
    ///
    /// It is inlinable because every request with a token calls it from another module, where unspecialized code would
    /// take 5,000 instructions.
    @inlinable package func isEqual(toLowerCase lowerCase: some Collection<UInt8>) -> Bool {
        count == lowerCase.count
            && elementsEqual(lowerCase) { byte, expected in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 == expected : byte == expected
            }
    }
}

extension StringProtocol {
    /// Returns true if this text equals `lowerCase`, an ASCII string in lower case, ignoring ASCII letter case.
    @inlinable package func isEqual(toLowerCase lowerCase: String) -> Bool { utf8.isEqual(toLowerCase: lowerCase.utf8) }
}
