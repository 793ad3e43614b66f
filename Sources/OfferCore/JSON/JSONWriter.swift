/// A writer that builds one JSON object, flat or nested. Members appear in call order.
package struct JSONWriter {
    private var bytes: [UInt8]
    private var needsComma = false

    package init() {
        bytes = []
        bytes.reserveCapacity(512)
        bytes.append(UInt8(ascii: "{"))
    }

    /// Appends an object without its closing brace to `text`. The caller adds the brace, perhaps after more members.
    package static func appendOpenObject(
        to text: inout [UInt8], _ write: (inout JSONWriter) throws -> Void
    ) rethrows {
        var writer = JSONWriter(bytes: [])
        // Swapping leaves the text with a single owner, so it is not copied.
        swap(&writer.bytes, &text)
        defer { swap(&writer.bytes, &text) }
        writer.bytes.append(UInt8(ascii: "{"))
        try write(&writer)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    package mutating func member(_ name: String, _ text: String) {
        begin(name)
        append(text.utf8, isPlain: Self.isPlain(text.utf8Span.span))
    }

    /// - Parameter utf8: valid UTF-8.
    package mutating func member(_ name: String, utf8: [UInt8]) {
        begin(name)
        append(utf8, isPlain: Self.isPlain(utf8.span))
    }

    package mutating func member(_ name: String, hexadecimal value: [UInt8]) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        Hexadecimal.append(value, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ utf8: some Collection<UInt8>, isPlain: Bool) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain { bytes += utf8 } else { for byte in utf8 { appendEscaped(byte) } }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func member(_ name: String, _ number: Int64) {
        begin(name)
        bytes += String(number).utf8
    }

    package mutating func member(_ name: String, _ value: Bool) {
        begin(name)
        bytes += (value ? "true" : "false").utf8
    }

    package mutating func member(_ name: String, _ texts: [String]) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(text.utf8, isPlain: Self.isPlain(text.utf8Span.span))
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes an array with one object per element.
    package mutating func objects<Element>(
        _ name: String, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            bytes += (index > 0 ? ",{" : "{").utf8
            needsComma = false
            write(&self, element)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    package mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
        begin(name)
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        write(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func null(_ name: String) {
        begin(name)
        bytes += "null".utf8
    }

    /// Adds already encoded members: `"name":value`, separated by commas.
    package mutating func rawMembers(_ json: [UInt8]) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        bytes += json
    }

    /// Adds a member whose value is already encoded.
    package mutating func rawValue(_ name: String, _ json: [UInt8]) {
        begin(name)
        bytes += json
    }

    /// Adds an array of values that are already encoded.
    package mutating func rawValues(_ name: String, _ values: [[UInt8]]) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += value
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Encodes members for ``rawMembers(_:)``.
    package static func members(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(bytes: [])
        write(&writer)
        return writer.bytes
    }

    /// Encodes a string with its quotes, for ``rawMembers(_:)`` with names that may need escapes.
    /// - Parameter utf8: valid UTF-8.
    package static func string(_ utf8: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(bytes: [])
        writer.append(utf8, isPlain: isPlain(utf8.span))
        return writer.bytes
    }

    /// Closes the object.
    package consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ name: String) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        bytes.append(UInt8(ascii: "\""))
        bytes += name.utf8
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private static func isPlain(_ utf8: borrowing Span<UInt8>) -> Bool {
        // No early exit, so that the compiler can vectorise the loop.
        var isPlain = true
        for index in utf8.indices where needsEscape(utf8[index]) { isPlain = false }
        return isPlain
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        guard Self.needsEscape(byte) else { return bytes.append(byte) }
        if byte >= 0x20 {
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        } else {
            bytes += "\\u00".utf8
            for digit in [byte >> 4, byte & 0xF] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}
