/// The attributes by which a PKCS#11 URI (RFC 7512) names one private key.
///
/// Reading is strict: an attribute that would be ignored could change which key signs.
package struct PKCS11URI: Hashable, Sendable {
    /// The attributes that name a token. At least one is set, and all that are set must match.
    package struct Token: Hashable, Sendable {
        package fileprivate(set) var label: String?
        package fileprivate(set) var manufacturer: String?
        package fileprivate(set) var model: String?
        package fileprivate(set) var serial: String?
        package fileprivate(set) var slot: UInt?
    }

    /// The attributes that name a key on its token. At least one is set.
    package struct Key: Hashable, Sendable {
        /// `CKA_LABEL`, in UTF-8.
        package fileprivate(set) var label: String?
        /// `CKA_ID`.
        package fileprivate(set) var identifier: [UInt8]?

        package init(label: String? = nil, identifier: [UInt8]? = nil) {
            self.label = label
            self.identifier = identifier
        }
    }

    package private(set) var token = Token()
    package private(set) var key = Key()

    /// The maximum size of a URI, in bytes.
    private static let maximumSize = 1024

    /// - Parameter text: `pkcs11:`, and attributes separated by semicolons. Bytes other than letters, digits and a few
    ///   signs are percent-encoded.
    package init(_ text: String) throws(PKCS11URIError) {
        guard text.utf8.count <= Self.maximumSize else { throw .tooLong }
        guard text.prefix(7).lowercased() == "pkcs11:" else { throw .scheme }
        let parts = text.dropFirst(7).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count > 1 { try Self.refuseQuery(parts[1]) }
        var seen: Set<Substring> = []
        for attribute in parts[0].split(separator: ";", omittingEmptySubsequences: false) {
            let (name, value) = try Self.pair(attribute)
            guard seen.insert(name).inserted else { throw .duplicate(String(name)) }
            try read(name, try Self.decoded(value, of: name))
        }
        guard token != Token() else { throw .noToken }
        guard key != Key() else { throw .noKey }
    }

    private mutating func read(_ name: Substring, _ value: [UInt8]) throws(PKCS11URIError) {
        switch name {
        case "token": token.label = try Self.text(value, of: name)
        case "manufacturer": token.manufacturer = try Self.text(value, of: name)
        case "model": token.model = try Self.text(value, of: name)
        case "serial": token.serial = try Self.text(value, of: name)
        case "slot-id":
            guard let slot = UInt(try Self.text(value, of: name)) else { throw .value("slot-id") }
            token.slot = slot
        case "object": key.label = try Self.text(value, of: name)
        case "id":
            guard !value.isEmpty else { throw .value("id") }
            key.identifier = value
        case "type": guard value == Array("private".utf8) else { throw .type }
        default: throw .unknown
        }
    }

    /// No query attribute is accepted: the configuration has members for the module and the PIN's file.
    private static func refuseQuery(_ query: Substring) throws(PKCS11URIError) {
        let names = query.split(separator: "&").map { $0.prefix { $0 != "=" } }
        if names.contains("pin-value") { throw .pinValue }
        if names.contains("pin-source") { throw .pinSource }
        throw names.contains { $0 == "module-path" || $0 == "module-name" } ? .module : .unknown
    }

    private static func pair(_ attribute: Substring) throws(PKCS11URIError) -> (name: Substring, value: Substring) {
        guard let equals = attribute.firstIndex(of: "=") else { throw .form }
        let name = attribute[..<equals]
        // Never quoted in full: it may be a misplaced PIN.
        if name == "pin-value" { throw .pinValue }
        return (name, attribute[attribute.index(after: equals)...])
    }

    /// The signs that a value may contain as they are, in addition to letters and digits (RFC 7512 section 2.3).
    private static let signs = Set("-._~:[]@!$'()*+,=&".utf8)

    private static func decoded(_ value: Substring, of name: Substring) throws(PKCS11URIError) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(value.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw .encoding
                }
                bytes.append(high << 4 | low)
            } else {
                guard isPlain(byte) else { throw .encoding }
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: signs.contains(byte)
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }

    private static func text(_ value: [UInt8], of name: Substring) throws(PKCS11URIError) -> String {
        guard !value.isEmpty, value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: value, as: UTF8.self)
        else { throw .value(String(name)) }
        return text
    }
}

extension PKCS11URI: CustomStringConvertible {
    /// The URI with its attributes in a fixed order.
    package var description: String {
        let texts = [
            ("token", token.label), ("manufacturer", token.manufacturer), ("model", token.model),
            ("serial", token.serial), ("slot-id", token.slot.map { String($0) }), ("object", key.label),
        ]
        var attributes = texts.compactMap { name, text in
            text.map { "\(name)=\(Self.encoded(Array($0.utf8), keepingPlain: true))" }
        }
        if let identifier = key.identifier {
            attributes.append("id=\(Self.encoded(identifier, keepingPlain: false))")
        }
        return "pkcs11:" + attributes.joined(separator: ";")
    }

    private static func encoded(_ bytes: [UInt8], keepingPlain: Bool) -> String {
        bytes.map { byte in
            guard keepingPlain, isPlain(byte) else {
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            return String(Unicode.Scalar(byte))
        }.joined()
    }
}

/// The reason that a text is not a usable ``PKCS11URI``. It never contains a value, which may be a misplaced PIN.
package enum PKCS11URIError: Error, Hashable {
    case tooLong
    case scheme
    /// An attribute has no `=`.
    case form
    case encoding
    case duplicate(String)
    /// The value of a known attribute is empty or has the wrong form.
    case value(String)
    /// `type` is not `private`.
    case type
    case unknown
    case pinValue
    case pinSource
    case module
    case noToken
    case noKey
}

extension PKCS11URIError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong: "the URI is too long"
        case .scheme: "the URI does not begin with pkcs11:"
        case .form: "an attribute of the URI has no value"
        case .encoding: "the URI has a character that must be percent-encoded, or an incomplete percent-encoding"
        case .duplicate(let name): "the URI has two attributes \(name)"
        case .value(let name): "the value of \(name) in the URI is not valid"
        case .type: "the URI names another type of object than private"
        case .unknown: "the URI has an attribute that is not supported"
        case .pinValue: "the URI contains a PIN, which would be in logs and process lists"
        case .pinSource: "the URI names the source of the PIN"
        case .module: "the URI names a module"
        case .noToken: "the URI names no token"
        case .noKey: "the URI names no key"
        }
    }

    package var hint: String {
        switch self {
        case .pinValue: "remove pin-value, change the PIN, and put it into a file that pinFile names"
        case .pinSource: "name the file in pinFile instead"
        case .module: "name the module in the member module instead"
        case .noToken: "add the label of the token, such as token=offers"
        case .noKey: "add the label of the key, such as object=2X9R4HXF34"
        case .encoding: "write a blank as %20, for example"
        case .tooLong, .scheme, .form, .duplicate, .value, .type, .unknown:
            "write it like pkcs11:token=offers;object=2X9R4HXF34; token, manufacturer, model, serial, slot-id, object, id "
                + "and type are supported"
        }
    }
}
