import OfferCore
import OfferEligibility

/// A member's value, with the member's path for error messages.
struct PayloadValue {
    let name: String
    let value: JSONValue
    let acceptsFractions: Bool

    func utf8() throws(PayloadError) -> [UInt8] {
        guard case .string(let utf8) = value else { throw wrongType("a string") }
        return utf8
    }

    func text() throws(PayloadError) -> String { String(decoding: try utf8(), as: UTF8.self) }

    func bool() throws(PayloadError) -> Bool {
        guard case .bool(let bool) = value else { throw wrongType("true or false") }
        return bool
    }

    /// Reads a whole number that is written without a fraction or an exponent.
    func integer() throws(PayloadError) -> Int64 {
        guard case .number(let digits) = value else { throw wrongType(Self.integerType) }
        guard let integer = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw wrongType(Self.integerType, found: Self.otherNumber)
        }
        return integer
    }

    /// Reads a time in milliseconds since 1970. A fraction is rounded down if fractions are accepted.
    func timestamp() throws(PayloadError) -> Timestamp {
        guard acceptsFractions, case .number(let digits) = value,
            let point = digits.firstIndex(of: UInt8(ascii: "."))
        else { return Timestamp(milliseconds: try integer()) }
        let fraction = digits[(point + 1)...]
        guard let whole = Int64(String(decoding: digits[..<point], as: UTF8.self)), whole > .min,
            fraction.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { throw wrongType(Self.integerType, found: Self.otherNumber) }
        let isBelowWhole = digits.first == UInt8(ascii: "-") && fraction.contains { $0 != UInt8(ascii: "0") }
        return Timestamp(milliseconds: isBelowWhole ? whole - 1 : whole)
    }

    /// Reads a string that `check` accepts.
    func field<Field>(
        _ check: (_ utf8: [UInt8], _ name: String) throws(FieldError) -> Field
    ) throws(PayloadError) -> Field {
        let utf8 = try utf8()
        do { return try check(utf8, name) } catch { throw PayloadError(.invalid(error.reason), member: name) }
    }

    func uuid() throws(PayloadError) -> UUIDText {
        guard let uuid = UUIDText(parsing: try utf8()) else { throw PayloadError(.invalid(.notUUID), member: name) }
        return uuid
    }

    func open<Value: OpenValue>(
        _: Value.Type = Value.self
    ) throws(PayloadError) -> Value where Value.RawValue == String {
        Value(rawValue: try text())
    }

    func open<Value: OpenValue>(
        _: Value.Type = Value.self
    ) throws(PayloadError) -> Value where Value.RawValue == Int64 {
        Value(rawValue: try integer())
    }

    func texts() throws(PayloadError) -> [String] {
        guard case .array(let elements) = value else { throw wrongType("an array of strings") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let utf8) = element else {
                throw wrongType("an array of strings", found: "an array with \(element.kind)")
            }
            texts.append(String(decoding: utf8, as: UTF8.self))
        }
        return texts
    }

    func elements() throws(PayloadError) -> [PayloadValue] {
        guard case .array(let elements) = value else { throw wrongType("an array") }
        return elements.enumerated().map { place, element in
            PayloadValue(name: "\(name)[\(place)]", value: element, acceptsFractions: acceptsFractions)
        }
    }

    func object() throws(PayloadError) -> JSONObject {
        guard case .object(let object) = value else { throw wrongType("an object") }
        return object
    }

    /// Reads the members of an object.
    func reader<Member: PayloadMember>(_ index: MemberIndex<Member>) throws(PayloadError) -> PayloadReader<Member> {
        var reader = PayloadReader(try object(), index, path: name + ".")
        reader.acceptsFractions = acceptsFractions
        return reader
    }

    /// This value; nil if it is an empty string, which Apple documents for identifiers that have no value.
    var unlessEmpty: PayloadValue? {
        if case .string(let utf8) = value, utf8.isEmpty { nil } else { self }
    }

    /// Reads a value whose shape Apple has documented only in part. An unexpected shape counts as absent, so that a wrong
    /// guess refuses no customer.
    func tentative<Value>(_ read: (PayloadValue) throws(PayloadError) -> Value) -> Value? { try? read(self) }

    /// Reads the account token of a purchase.
    /// - Returns: nil if the string is not a UUID. Such a token names no account, but the rest of the payload is used.
    func accountToken() throws(PayloadError) -> UUIDText? { UUIDText(parsing: try utf8()) }

    private static let integerType = "a whole number of at most 64 bits"
    private static let otherNumber = "another number"

    private func wrongType(_ expected: String, found: String? = nil) -> PayloadError {
        PayloadError(.wrongType(expected: expected, found: found ?? value.kind), member: name)
    }
}
