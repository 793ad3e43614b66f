/// Percent-encoding (RFC 3986 section 2.1) for one path segment or query value.
package enum URLText {
    /// Encodes everything except unreserved characters, so no identifier can add a segment, a query or a fragment.
    package static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += "%".utf8 + hex(byte >> 4) + hex(byte & 0xF)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hex(_ digit: UInt8) -> [UInt8] {
        [digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10]
    }
}
