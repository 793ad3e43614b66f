extension UInt8 {
    /// True if the byte is ASCII white space: a space, a horizontal or vertical tab, or LF, FF or CR.
    package var isASCIIWhiteSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    /// True if the byte is an ASCII letter or digit.
    package var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
