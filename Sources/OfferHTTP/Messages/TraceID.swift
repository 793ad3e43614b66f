import OfferCore

/// The trace that a request belongs to, as named by its sender (W3C Trace Context, level 1).
package struct TraceID: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits, at least one of which is not 0.
    package let text: String

    /// - Parameter traceparent: the value of the header: `version-trace ID-parent ID-flags`. Later versions may append
    ///   fields.
    /// - Returns: nil if the value is malformed. This is not an error; the request simply belongs to no trace.
    package init?(traceparent: String) {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= Self.size, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }) else { return nil }
        let (version, trace, parent, flags) = (bytes[0..<2], bytes[3..<35], bytes[36..<52], bytes[53..<55])
        guard [version, trace, parent, flags].allSatisfy({ $0.allSatisfy(Self.isLowerCaseDigit) }),
            !version.elementsEqual("ff".utf8),
            bytes.count == Self.size || !Self.isZero(version) && bytes[Self.size] == UInt8(ascii: "-"),
            !Self.isZero(trace), !Self.isZero(parent)
        else { return nil }
        text = String(decoding: trace, as: UTF8.self)
    }

    /// The size of version 00, in bytes.
    private static let size = 55

    private static func isLowerCaseDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isZero(_ digits: ArraySlice<UInt8>) -> Bool { digits.allSatisfy { $0 == UInt8(ascii: "0") } }
}
