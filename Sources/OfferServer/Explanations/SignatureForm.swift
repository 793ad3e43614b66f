/// The two forms of an ECDSA P-256 signature: ASN.1 DER (V1), and r and s side by side (JWS, RFC 7518 section 3.4).
enum SignatureForm {
    /// - Parameter raw: r and s, 32 bytes each, the most significant first.
    /// - Returns: `SEQUENCE { INTEGER r, INTEGER s }`; nil for any other size.
    static func der(ofRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64 else { return nil }
        let body = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }

    /// Whether these are two INTEGERs of up to 33 bytes in a SEQUENCE, with nothing behind it. What the integers are is for
    /// libcrypto to judge.
    static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8, bytes[0] == 0x30, Int(bytes[1]) == bytes.count - 2 else { return false }
        guard let next = endOfInteger(in: bytes, at: 2), let end = endOfInteger(in: bytes, at: next) else {
            return false
        }
        return end == bytes.count
    }

    private static func endOfInteger(in bytes: [UInt8], at start: Int) -> Int? {
        guard start + 2 < bytes.count, bytes[start] == 0x02, (1...33).contains(bytes[start + 1]) else { return nil }
        let end = start + 2 + Int(bytes[start + 1])
        return end <= bytes.count ? end : nil
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        // A first bit that is set would say that the number is negative.
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
