/// A strict single-pass JSON reader.
///
/// It accepts RFC 8259 in UTF-8 without a byte-order mark. It rejects input that common parsers accept: duplicate
/// names, trailing commas, a trailing NUL, UTF-16 and unpaired surrogates. Parsers interpret that input differently, so
/// one signed text could mean two things.
package struct JSONReader {
    /// Limits that make hostile input cheap to reject.
    package enum Limit {
        /// The maximum nesting depth of arrays and objects.
        package static let depth = 16
        /// The maximum number of members in an object or elements in an array.
        package static let count = 64
        /// The maximum number of values in the whole text. A small text can have many values, and each takes far more
        /// memory than its text: 1 MiB of empty objects would take 65 MB.
        package static let total = 4096
        /// The limit that replaces ``count`` for the claims of a user's token, which may list all of the user's groups.
        package static let claimCount = 1024
    }

    private let bytes: [UInt8]
    private let maximumCount: Int
    private var remaining: Int
    private var position = 0

    /// - Parameters:
    ///   - bytes: the whole text; the caller limits its size.
    ///   - maximumCount: the maximum number of members in an object or elements in an array.
    ///   - maximumTotal: the maximum number of values in the whole text.
    package static func read(
        _ bytes: [UInt8], maximumCount: Int = Limit.count, maximumTotal: Int = Limit.total
    ) throws(JSONError) -> JSONValue {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw JSONError(.notUTF8, at: 0) }
        var reader = JSONReader(bytes: bytes, maximumCount: maximumCount, maximumTotal: maximumTotal)
        reader.skipWhitespace()
        let value = try reader.readValue(depth: 0)
        reader.skipWhitespace()
        guard reader.next == nil else { throw reader.error(.trailingText) }
        return value
    }

    /// Finds the raw text of a member's value, byte for byte as received.
    /// - Parameter bytes: a text that ``read(_:maximumCount:maximumTotal:)`` accepts as an object.
    /// - Returns: nil if there is no such member.
    package static func text(ofMember wanted: String, in bytes: [UInt8]) throws(JSONError) -> [UInt8]? {
        var reader = JSONReader(bytes: bytes, maximumCount: Limit.count, maximumTotal: Limit.total)
        reader.skipWhitespace()
        guard reader.take("{") else { return nil }
        repeat {
            reader.skipWhitespace()
            guard reader.next == UInt8(ascii: "\"") else { return nil }
            let name = try reader.readString()
            reader.skipWhitespace()
            guard reader.take(":") else { throw reader.unexpected() }
            reader.skipWhitespace()
            let start = reader.position
            _ = try reader.readValue(depth: 1)
            if name.elementsEqual(wanted.utf8) { return Array(bytes[start..<reader.position]) }
            reader.skipWhitespace()
        } while reader.take(",")
        return nil
    }

    private init(bytes: [UInt8], maximumCount: Int, maximumTotal: Int) {
        self.bytes = bytes
        self.maximumCount = maximumCount
        remaining = maximumTotal
    }

    // MARK: Values

    private mutating func readValue(depth: Int) throws(JSONError) -> JSONValue {
        guard let byte = next else { throw error(.endsTooEarly) }
        guard remaining > 0 else { throw error(.tooMany) }
        remaining -= 1
        switch byte {
        case UInt8(ascii: "{"): return .object(try readObject(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try readArray(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try readNumber())
        case UInt8(ascii: "t"): return try readLiteral("true", .bool(true))
        case UInt8(ascii: "f"): return try readLiteral("false", .bool(false))
        case UInt8(ascii: "n"): return try readLiteral("null", .null)
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func readObject(depth: Int) throws(JSONError) -> JSONObject {
        guard depth <= Limit.depth else { throw error(.tooDeep) }
        position += 1
        skipWhitespace()
        var object = JSONObject()
        if take("}") { return object }
        while true {
            guard next == UInt8(ascii: "\"") else { throw unexpected() }
            let start = position
            let name = try readString()
            skipWhitespace()
            guard take(":") else { throw unexpected() }
            skipWhitespace()
            let value = try readValue(depth: depth)
            guard object.members.count < maximumCount else { throw error(.tooMany) }
            guard object.add(name, value) else { throw JSONError(.duplicateName, at: start) }
            skipWhitespace()
            if take("}") { return object }
            guard take(",") else { throw unexpected() }
            skipWhitespace()
        }
    }

    private mutating func readArray(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= Limit.depth else { throw error(.tooDeep) }
        position += 1
        skipWhitespace()
        var elements: [JSONValue] = []
        if take("]") { return elements }
        while true {
            guard elements.count < maximumCount else { throw error(.tooMany) }
            elements.append(try readValue(depth: depth))
            skipWhitespace()
            if take("]") { return elements }
            guard take(",") else { throw unexpected() }
            skipWhitespace()
        }
    }

    private mutating func readLiteral(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in String(describing: text).utf8 {
            guard next == byte else { throw unexpected() }
            position += 1
        }
        return value
    }

    // MARK: Strings

    private mutating func readString() throws(JSONError) -> [UInt8] {
        position += 1
        let start = position
        position = endOfPlainText(from: start)
        switch next {
        case UInt8(ascii: "\""):
            defer { position += 1 }
            return Array(bytes[start..<position])
        case UInt8(ascii: "\\"): return try readEscapedString(from: start)
        case nil: throw error(.endsTooEarly)
        default: throw error(.controlCharacter)
        }
    }

    /// Returns the position of the first quotation mark, backslash or control character from `start` on.
    private func endOfPlainText(from start: Int) -> Int {
        let text = bytes.span
        var end = start
        while end < text.count, text[end] != UInt8(ascii: "\""), text[end] != UInt8(ascii: "\\"), text[end] > 0x1F {
            end += 1
        }
        return end
    }

    /// Reads the rest of a string, starting at its first escape. Only strings with escapes are copied byte by byte.
    private mutating func readEscapedString(from start: Int) throws(JSONError) -> [UInt8] {
        var text = Array(bytes[start..<position])
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return text
            case UInt8(ascii: "\\"):
                position += 1
                text.append(contentsOf: String(Character(try readEscape())).utf8)
            case 0x00...0x1F:
                throw error(.controlCharacter)
            default:
                text.append(byte)
                position += 1
            }
        }
        throw error(.endsTooEarly)
    }

    private mutating func readEscape() throws(JSONError) -> Unicode.Scalar {
        guard let byte = next else { throw error(.endsTooEarly) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try readUnicodeEscape()
        default:
            position -= 1
            throw error(.badEscape)
        }
    }

    /// Reads the four digits after `\u`, and the second escape if they are the first half of a surrogate pair.
    private mutating func readUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let first = try readFourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw error(.unpairedSurrogate) }
        let second = try readFourDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error(.unpairedSurrogate) }
        return scalar
    }

    private mutating func readFourDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw error(.badEscape)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    // MARK: Numbers

    private mutating func readNumber() throws(JSONError) -> [UInt8] {
        let start = position
        _ = take("-")
        // A leading zero must be the only integer digit: 01 is not a number.
        if !take("0") { try readDigits() }
        if take(".") { try readDigits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try readDigits()
        }
        return Array(bytes[start..<position])
    }

    private mutating func readDigits() throws(JSONError) {
        guard let first = next, Self.isDigit(first) else { throw unexpected() }
        while let byte = next, Self.isDigit(byte) { position += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Consumes `character` if it comes next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipWhitespace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func unexpected() -> JSONError { error(next == nil ? .endsTooEarly : .unexpectedByte) }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: position) }
}
