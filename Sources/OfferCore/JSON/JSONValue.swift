/// A JSON value (RFC 8259) as it was read. Texts are bytes of valid UTF-8, with the escapes resolved and nothing else
/// changed.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number as it was written, such as `1767225600000` or `-1.5e3`.
    case number([UInt8])
    case string([UInt8])
    case array([JSONValue])
    case object(JSONObject)

    /// What a sentence calls a value of this kind.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of a JSON object, in the order they came. No name occurs twice.
package struct JSONObject: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let name: [UInt8]
        package let value: JSONValue
    }

    package private(set) var members: [Member] = []
    /// Their names, where there are many.
    private var names: Set<[UInt8]> = []

    package init() {
        members.reserveCapacity(8)  // as many as a request has
    }

    /// Names are compared as bytes: to `String`, U+212A (the Kelvin sign) would be a K.
    package subscript(name: String) -> JSONValue? {
        members.first { $0.name.count == name.utf8.count && $0.name.elementsEqual(name.utf8) }?.value
    }

    /// - Returns: `false`, and nothing is added, if the name is there already.
    package mutating func add(_ name: [UInt8], _ value: JSONValue) -> Bool {
        // To look through a few is quicker; to look through many for each of them is what somebody could make us do.
        if members.count < 32 {
            guard !members.contains(where: { $0.name == name }) else { return false }
        } else {
            if names.isEmpty { names = Set(members.map(\.name)) }
            guard names.insert(name).inserted else { return false }
        }
        members.append(Member(name: name, value: value))
        return true
    }
}
