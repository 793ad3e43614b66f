import OfferCore

/// Reads ASN.1 of a signature more leniently than DER allows, as no library has to take it.
enum SignatureForm {
    /// The signature that was meant by two INTEGERs in a SEQUENCE, where somebody has put them together by hand: with zeros too
    /// many or too few in front, lengths that are wrong or longer than they have to be, or something behind the end.
    static func signature(inNearly der: [UInt8]) -> RawSignature? {
        var rest = der[...]
        guard rest.popFirst() == 0x30, takeLength(from: &rest) != nil, let r = takeNumber(from: &rest),
            let s = takeNumber(from: &rest)
        else { return nil }
        return RawSignature(bytes: r + s)
    }

    private static func takeLength(from rest: inout ArraySlice<UInt8>) -> Int? {
        let first = rest.popFirst()
        let length = first == 0x81 ? rest.popFirst() : first.flatMap { $0 < 0x80 ? $0 : nil }
        return length.map(Int.init)
    }

    /// - Returns: its number in 32 bytes.
    private static func takeNumber(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let length = takeLength(from: &rest), rest.count >= length else { return nil }
        let digits = rest.prefix(length).drop { $0 == 0 }
        rest = rest.dropFirst(length)
        guard !digits.isEmpty, digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
