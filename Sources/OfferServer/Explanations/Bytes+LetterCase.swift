import OfferCore

extension [UInt8] {
    /// By ASCII letters, which is what bundle IDs and product IDs consist of.
    func isEqual(ignoringCaseOf other: [UInt8]) -> Bool { count == other.count && lowerCase == other.lowerCase }

    /// ASCII letters in lower case.
    var lowerCase: [UInt8] { map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 } }

    /// ASCII letters in capitals.
    var upperCase: [UInt8] { map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & ~0x20 : $0 } }

    /// Without ASCII white space at its ends.
    var trimmed: [UInt8] {
        Array(drop(while: \.isASCIIWhiteSpace).reversed().drop(while: \.isASCIIWhiteSpace).reversed())
    }
}
