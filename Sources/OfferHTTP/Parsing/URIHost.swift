import OfferCore

/// A parser for the host in an authority such as `example.com:8080` (RFC 3986 section 3.2). `Host`, `:authority` and
/// absolute URLs contain an authority.
///
/// User information is refused, because HTTP forbids it (RFC 9110 section 4.2.4). IPvFuture and zones are refused too,
/// because no client needs them.
enum URIHost {
    /// Returns the host in `authority`, an IPv6 address with its brackets; nil if the authority is malformed.
    static func text(in authority: some StringProtocol) -> String? {
        let bytes = Array(authority.utf8)
        return range(in: bytes.span, bytes.indices).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    /// Returns the range of the host in an authority, which may be empty (RFC 9112 section 3.2); nil if the authority
    /// is malformed.
    static func range(in bytes: borrowing Span<UInt8>, _ authority: Range<Int>) -> Range<Int>? {
        let end = authority.upperBound
        var index = authority.lowerBound
        if index < end, bytes[index] == UInt8(ascii: "[") {
            while index < end, bytes[index] != UInt8(ascii: "]") { index += 1 }
            guard index < end, isIPv6(bytes, authority.lowerBound + 1..<index) else { return nil }
            index += 1
        } else {
            while index < end, bytes[index] != UInt8(ascii: ":") {
                guard let size = sizeOfCharacter(bytes, at: index, end) else { return nil }
                index += size
            }
        }
        let host = authority.lowerBound..<index
        guard index < end else { return host }
        guard bytes[index] == UInt8(ascii: ":") else { return nil }
        for index in index + 1..<end where !isDigit(bytes[index]) { return nil }
        return host
    }

    /// Returns the size in bytes of the `reg-name` character at `index`; nil if there is none. An IPv4 address consists
    /// of such characters too.
    private static func sizeOfCharacter(_ bytes: borrowing Span<UInt8>, at index: Int, _ end: Int) -> Int? {
        switch bytes[index] {
        case UInt8(ascii: "%"):
            guard index + 2 < end, isHexadecimal(bytes[index + 1]), isHexadecimal(bytes[index + 2]) else { return nil }
            return 3
        // unreserved and sub-delims
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","),
            UInt8(ascii: ";"), UInt8(ascii: "="):
            return 1
        default: return nil
        }
    }

    private static func isIPv6(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard let text = try? UTF8Span(validating: bytes.extracting(range)) else { return false }
        let address = String(copying: text)
        return address.utf8.contains(UInt8(ascii: ":")) && IPAddress(address) != nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
