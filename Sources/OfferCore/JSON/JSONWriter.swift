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
        value(text)
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

    /// Begins a member. The caller must then write its value, for example with ``value(_:)-(String)``.
    package mutating func begin(_ name: String) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        bytes.append(UInt8(ascii: "\""))
        bytes += name.utf8
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    package mutating func value(_ text: String) { append(text.utf8, isPlain: Self.isPlain(text.utf8Span.span)) }

    package mutating func value(_ number: Int64) { bytes += String(number).utf8 }

    package mutating func value(_ number: Double) {
        if let whole = Int64(exactly: number) { value(whole) } else { bytes += String(number).utf8 }
    }

    package mutating func value(_ value: Bool) { bytes += (value ? "true" : "false").utf8 }

    /// Writes an array. `write` writes the value at each index.
    package mutating func values(count: Int, _ write: (inout JSONWriter, Int) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for place in 0..<count {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, place)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes an array. `write` writes the value of each element.
    @inlinable
    package mutating func values<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        values(count: elements.count) { write(&$0, elements[$1]) }
    }

    /// Writes an object. `write` writes its members.
    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        write(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    private mutating func append(_ utf8: some Collection<UInt8>, isPlain: Bool) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain { bytes += utf8 } else { for byte in utf8 { appendEscaped(byte) } }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func member(_ name: String, _ number: Int64) {
        begin(name)
        value(number)
    }

    package mutating func member(_ name: String, _ value: Bool) {
        begin(name)
        self.value(value)
    }

    package mutating func member(_ name: String, _ texts: [String]) {
        begin(name)
        values(texts) { $0.value($1) }
    }

    /// Writes an array with one object per element.
    @inlinable
    package mutating func objects<Element>(
        _ name: String, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        begin(name)
        values(count: elements.count) { writer, place in
            writer.object { write(&$0, elements[place]) }
        }
    }

    package mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
        begin(name)
        object(write)
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
        self.values(values) { $0.bytes += $1 }
    }

    /// Encodes members for ``rawMembers(_:)``.
    package static func members(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(bytes: [])
        write(&writer)
        return writer.bytes
    }

    /// Encodes a string with its quotes, for members of ``rawMembers(_:)`` whose names may need escapes.
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
