import Foundation

/// DER for hand-made OCSP responses, independent of libcrypto.
enum DERWriter {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        let length = stride(from: 16, through: 0, by: -8).map { UInt8(truncatingIfNeeded: content.count >> $0) }
            .drop { $0 == 0 }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }

    static func octets(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }

    /// - Parameter seconds: since 1970.
    static func time(_ seconds: Int64) -> [UInt8] {
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        let text = date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        return value(0x18, Array(text.utf8.filter { $0 != UInt8(ascii: "T") }))
    }

    /// The content of the first value.
    static func content(_ der: [UInt8]) -> [UInt8] {
        guard der[1] >= 0x80 else { return Array(der[2...].prefix(Int(der[1]))) }
        let start = 2 + Int(der[1] & 0x7F)
        let length = der[2..<start].reduce(0) { $0 << 8 | Int($1) }
        return Array(der[start...].prefix(length))
    }
}
