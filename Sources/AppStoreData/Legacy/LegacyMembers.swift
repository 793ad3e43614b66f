import OfferCore

/// The members of an object in a notification of version 1, where numbers and booleans may be strings.
struct LegacyMembers {
    private let object: JSONObject
    /// The path of the object inside the notification: empty, or the parent's name and a dot.
    private let path: String

    init(_ object: JSONObject, path: String = "") {
        self.object = object
        self.path = path
    }

    /// - Returns: nil if the member is absent or `null`.
    subscript(name: String) -> PayloadValue? {
        guard let value = object[name], value != .null else { return nil }
        return PayloadValue(name: path + name, value: value, acceptsFractions: false)
    }

    func required(_ name: String) throws(PayloadError) -> PayloadValue {
        guard let value = self[name] else { throw PayloadError(.missing, member: path + name) }
        return value
    }

    func object(_ name: String) throws(PayloadError) -> LegacyMembers? {
        guard let value = self[name] else { return nil }
        return LegacyMembers(try value.object(), path: value.name + ".")
    }

    /// Returns the text of a string, or the digits of a number.
    func utf8(_ name: String) -> [UInt8]? {
        switch object[name] {
        case .string(let utf8): utf8
        case .number(let digits): digits
        default: nil
        }
    }

    func integer(_ name: String) -> Int64? { utf8(name).flatMap { Int64(String(decoding: $0, as: UTF8.self)) } }

    func transactionID(_ name: String) -> TransactionID? { utf8(name).flatMap { try? TransactionID(utf8: $0) } }

    /// Reads a flag. A notification contains `"true"` or `"false"`, but its receipt contains `"1"` or `"0"`.
    func flag(_ name: String) -> Bool? {
        if case .bool(let flag) = object[name] { return flag }
        guard let utf8 = utf8(name) else { return nil }
        return ["true": true, "1": true, "false": false, "0": false][String(decoding: utf8, as: UTF8.self)]
    }

    /// Returns the objects in an array; an empty array if the member is not an array.
    func objects(_ name: String) -> [LegacyMembers] {
        guard case .array(let elements) = object[name] else { return [] }
        return elements.compactMap { element in
            guard case .object(let object) = element else { return nil }
            return LegacyMembers(object, path: "\(path)\(name).")
        }
    }
}
