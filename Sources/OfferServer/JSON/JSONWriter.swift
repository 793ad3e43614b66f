/// Writes one flat or nested JSON object, member by member, in the order of the calls.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {
        bytes.reserveCapacity(512)
        bytes.append(UInt8(ascii: "{"))
    }

    package mutating func member(_ name: StaticString, _ text: String) {
        member(name, utf8: text.utf8)
    }

    /// - Parameter utf8: valid UTF-8.
    package mutating func member(_ name: StaticString, utf8: some Sequence<UInt8>) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        for byte in utf8 { appendEscaped(byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
        begin(name)
        bytes += String(number).utf8
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        begin(name)
        bytes += (value ? "true" : "false").utf8
    }

    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        begin(name)
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        write(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Closes the object.
    package consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ name: StaticString) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        bytes.append(UInt8(ascii: "\""))
        bytes += String(describing: name).utf8
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x00...0x1F:
            bytes += "\\u00".utf8
            for digit in [byte >> 4, byte & 0xF] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        default:
            bytes.append(byte)
        }
    }
}
