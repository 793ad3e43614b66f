import OfferCore

/// A reader of the members of an answer. It ignores unknown members, because Apple adds new ones.
package struct AnswerReader: Sendable {
    private let members: JSONObject
    /// The path of this object, for error messages.
    private let path: String
    /// The whole answer as received; empty if this object is only part of an answer.
    let json: [UInt8]

    /// The maximum number of members in an object or elements in an array of an ordinary answer.
    private static let maximumCount = 1024
    private static let maximumTotal = 16_384
    /// The same maximum for a large answer: a receipt may have ten thousand purchases of thirty members each.
    private static let maximumLargeCount = 10_000
    private static let maximumLargeTotal = 400_000

    /// - Parameter json: the answer. Empty data is read as an empty object, because some answers have no body.
    init(json: [UInt8], isLarge: Bool = false) throws(AnswerError) {
        guard !json.isEmpty else {
            self.init(JSONObject(), path: "", json: json)
            return
        }
        let value: JSONValue
        do {
            value = try JSONReader.read(
                json, maximumCount: isLarge ? Self.maximumLargeCount : Self.maximumCount,
                maximumTotal: isLarge ? Self.maximumLargeTotal : Self.maximumTotal)
        } catch { throw AnswerError("it is not JSON") }
        guard case .object(let members) = value else { throw AnswerError("it is not a JSON object") }
        self.init(members, path: "", json: json)
    }

    private init(_ members: JSONObject, path: String, json: [UInt8] = []) {
        self.json = json
        self.members = members
        self.path = path
    }

    func text(_ name: String) throws(AnswerError) -> [UInt8] {
        guard let text = try optionalText(name) else { throw missing(name) }
        return text
    }

    /// - Returns: nil if the member is absent or null.
    func optionalText(_ name: String) throws(AnswerError) -> [UInt8]? {
        switch members[name] {
        case .string(let text)?: text
        case nil, .null?: nil
        default: throw wrongType(name, "a string")
        }
    }

    func integer(_ name: String) throws(AnswerError) -> Int64 {
        guard let number = try optionalInteger(name) else { throw missing(name) }
        return number
    }

    func optionalInteger(_ name: String) throws(AnswerError) -> Int64? {
        switch members[name] {
        case .number(let digits)?:
            guard let number = Int64(String(decoding: digits, as: UTF8.self)) else {
                throw wrongType(name, "a whole number")
            }
            return number
        case nil, .null?: return nil
        default: throw wrongType(name, "a whole number")
        }
    }

    func bool(_ name: String) throws(AnswerError) -> Bool {
        switch members[name] {
        case .bool(let value)?: value
        case nil, .null?: throw missing(name)
        default: throw wrongType(name, "true or false")
        }
    }

    /// - Returns: nil if the member is absent or null.
    func object(_ name: String) throws(AnswerError) -> AnswerReader? {
        switch members[name] {
        case .object(let members)?: AnswerReader(members, path: "\(path)\(name).")
        case nil, .null?: nil
        default: throw wrongType(name, "an object")
        }
    }

    func isText(_ name: String) -> Bool {
        if case .string? = members[name] { true } else { false }
    }

    func isBool(_ name: String) -> Bool {
        if case .bool? = members[name] { true } else { false }
    }

    /// Returns the objects in an array; an empty array if the member is absent or null.
    func objects(_ name: String) throws(AnswerError) -> [AnswerReader] {
        var objects: [AnswerReader] = []
        for (index, value) in try array(name).enumerated() {
            guard case .object(let members) = value else { throw wrongType("\(name)[\(index)]", "an object") }
            objects.append(AnswerReader(members, path: "\(path)\(name)[\(index)]."))
        }
        return objects
    }

    /// Returns the strings in an array; an empty array if the member is absent or null.
    func texts(_ name: String) throws(AnswerError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for (index, value) in try array(name).enumerated() {
            guard case .string(let text) = value else { throw wrongType("\(name)[\(index)]", "a string") }
            texts.append(text)
        }
        return texts
    }

    /// Returns the objects in an array and the number of other elements.
    func knownObjects(_ name: String) throws(AnswerError) -> (objects: [AnswerReader], unreadableCount: Int) {
        let values = try array(name)
        let objects = values.enumerated().compactMap { index, value -> AnswerReader? in
            guard case .object(let members) = value else { return nil }
            return AnswerReader(members, path: "\(path)\(name)[\(index)].")
        }
        return (objects, values.count - objects.count)
    }

    /// Returns the strings in an array and the number of other elements.
    func knownTexts(_ name: String) throws(AnswerError) -> (texts: [[UInt8]], unreadableCount: Int) {
        let values = try array(name)
        let texts = values.compactMap { value -> [UInt8]? in
            if case .string(let text) = value { text } else { nil }
        }
        return (texts, values.count - texts.count)
    }

    private func array(_ name: String) throws(AnswerError) -> [JSONValue] {
        switch members[name] {
        case .array(let values)?: values
        case nil, .null?: []
        default: throw wrongType(name, "an array")
        }
    }

    func missing(_ name: String) -> AnswerError { AnswerError("\(path)\(name) is missing") }

    func wrongType(_ name: String, _ expected: String) -> AnswerError {
        AnswerError("\(path)\(name) is not \(expected)")
    }
}
