import OfferCore

/// A reader of signatures that are almost ASN.1 DER, which libraries may reject.
enum LenientDER {
    /// Reads two INTEGERs in a SEQUENCE, as hand-written encoders produce them: with missing or extra leading zeros,
    /// wrong or overlong lengths, or bytes after the end.
    static func signature(in der: [UInt8]) -> RawSignature? {
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

    /// - Returns: the number in 32 bytes; nil if it is zero or does not fit.
    private static func takeNumber(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let length = takeLength(from: &rest), rest.count >= length else { return nil }
        let digits = rest.prefix(length).drop { $0 == 0 }
        rest = rest.dropFirst(length)
        guard !digits.isEmpty, digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
