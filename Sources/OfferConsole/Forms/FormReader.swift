/// A strict reader of the bodies and queries of forms: `application/x-www-form-urlencoded`, as browsers write it (WHATWG,
/// "URL", section 5).
///
/// `+` is a space, and `%` is followed by two hexadecimal digits. Names and values are UTF-8 without control characters.
/// Line breaks of a multi-line field become line feeds.
package enum FormReader {
    package enum Fault: Error, Hashable {
        case tooLarge
        case tooManyFields
        /// A part between `&` has no `=`.
        case notPairs
        /// A form with files is not made of parts as browsers write them.
        case notParts
        /// The name is cut to 64 bytes.
        case unknownField(String)
        case repeatedField(String)
        case tooLong(field: String)
        /// Bad percent-encoding, not UTF-8, or a control character.
        case badText(field: String)
        /// The name of a field cannot be decoded.
        case badName
    }

    /// A field that a form has.
    package struct Field: Sendable {
        package let name: String
        /// The maximum size of the decoded value.
        package let maximumBytes: Int

        package init(_ name: String, maximumBytes: Int) {
            self.name = name
            self.maximumBytes = maximumBytes
        }
    }

    /// The maximum size of a body or a query, in bytes.
    package static let maximumBytes = 64 * 1024
    package static let maximumFields = 64

    /// - Parameters:
    ///   - bytes: a body, or the text after `?`. If it is empty, no field is given.
    ///   - fields: the fields that the form has. A missing one is not an error.
    package static func read(_ bytes: some Sequence<UInt8>, fields: [Field]) throws(Fault) -> FormValues {
        let bytes = Array(bytes.prefix(maximumBytes + 1))
        guard bytes.count <= maximumBytes else { throw .tooLarge }
        var values: [FormValues.Item] = []
        guard !bytes.isEmpty else { return FormValues(values) }
        let separator = UInt8(ascii: "&")
        let pairs = bytes.split(separator: separator, maxSplits: maximumFields, omittingEmptySubsequences: false)
        guard pairs.count <= maximumFields else { throw .tooManyFields }
        for pair in pairs {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .notPairs }
            guard let name = text(pair[..<equals]) else { throw .badName }
            guard let field = fields.first(where: { $0.name == name }) else {
                throw .unknownField(UserText.short(name, bytes: 64))
            }
            guard !values.contains(where: { $0.name == name }) else { throw .repeatedField(name) }
            guard let value = text(pair[(equals + 1)...]) else { throw .badText(field: name) }
            guard value.utf8.count <= field.maximumBytes else { throw .tooLong(field: name) }
            values.append(FormValues.Item(name: name, value: value))
        }
        return FormValues(values)
    }

    /// Returns the decoded text; nil if it is malformed.
    private static func text(_ encoded: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(encoded.count)
        var rest = encoded
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return plain(decoded)
    }

    /// Returns UTF-8 as text, with a line feed for each carriage return and line feed; nil if it is not UTF-8 or has control
    /// characters.
    static func plain(_ utf8: [UInt8]) -> String? {
        String(validating: withLineFeeds(utf8), as: UTF8.self)
            .flatMap { $0.unicodeScalars.contains(where: isControl) ? nil : $0 }
    }

    /// Returns the bytes with a line feed for each carriage return and line feed.
    private static func withLineFeeds(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(0x0D) else { return bytes }
        return bytes.indices.compactMap { place in
            bytes[place] == 0x0D && place + 1 < bytes.count && bytes[place + 1] == 0x0A ? nil : bytes[place]
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        default: scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}

/// The values of a form. Each name is one of the form's fields, and occurs once.
package struct FormValues: Sendable {
    struct Item {
        let name: String
        let value: String
    }

    package static let none = FormValues([])

    private let values: [Item]

    init(_ values: [Item]) { self.values = values }

    /// The value of a field; nil if it is absent.
    package subscript(_ name: String) -> String? { values.first { $0.name == name }?.value }

    package var isEmpty: Bool { values.isEmpty }
}
