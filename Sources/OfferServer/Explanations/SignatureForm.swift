/// Tells a signature in ASN.1 DER (V1) from other bytes.
enum SignatureForm {
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
}
