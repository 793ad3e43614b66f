import OfferCore

extension [UInt8] {
    /// Compares two strings, ignoring ASCII letter case. Bundle IDs and product IDs have no other letters.
    package func isEqual(ignoringCaseOf other: [UInt8]) -> Bool { count == other.count && lowerCase == other.lowerCase }

    /// The text with its ASCII letters in lower case.
    var lowerCase: [UInt8] { map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 } }

    /// The text with its ASCII letters in upper case.
    var upperCase: [UInt8] { map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & ~0x20 : $0 } }

    /// The text without ASCII white space at either end.
    package var trimmed: [UInt8] {
        Array(drop(while: \.isASCIIWhiteSpace).reversed().drop(while: \.isASCIIWhiteSpace).reversed())
    }
}
