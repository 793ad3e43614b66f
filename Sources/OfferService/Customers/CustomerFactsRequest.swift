import OfferCore
import OfferEligibility

/// The body of `PUT /v1/customers/facts`: the team's facts about a customer.
struct CustomerFactsRequest {
    let customer: CustomerReference
    /// The new value of each fact; nil removes the fact.
    let facts: [FieldText: TeamFactValue?]

    /// The permitted number of facts.
    static let counts = 1...100
    /// The maximum size of a text, in bytes.
    static let maximumTextSize = 1024
    /// The maximum size of a number, in bytes. A number that many parsers cannot read would make the whole answer
    /// unreadable.
    static let maximumNumberSize = 64
    /// The maximum number of members to read. It exceeds the permitted number of facts, so that a request with too many
    /// facts gets the error about facts.
    static let maximumCount = 256

    init(_ members: JSONObject) throws(Problem) {
        customer = try CustomerReference(members, others: ["facts"])
        guard let value = members["facts"] else { throw .missingField("facts") }
        guard case .object(let object) = value else {
            throw .wrongType(field: "facts", expected: "an object", found: value.kind)
        }
        guard Self.counts.contains(object.members.count) else {
            throw .invalidField(FieldError(field: "facts", reason: .wrongCount(Self.counts)))
        }
        var facts: [FieldText: TeamFactValue?] = [:]
        for member in object.members {
            let name = try Self.name(member.name)
            facts.updateValue(try Self.value(member.value, of: "facts.\(name)"), forKey: name)
        }
        self.facts = facts
    }

    private static func name(_ utf8: [UInt8]) throws(Problem) -> FieldText {
        do {
            return try FieldText(utf8: utf8, field: "The name of a fact", sizes: 1...TeamFact.maximumNameSize)
        } catch {
            throw .invalidField(error).with { $0.field = "facts" }
        }
    }

    private static func value(_ value: JSONValue, of field: String) throws(Problem) -> TeamFactValue? {
        switch value {
        case .null: return nil
        case .bool(let bool): return .bool(bool)
        case .number(let utf8):
            guard utf8.count <= maximumNumberSize, Double(String(decoding: utf8, as: UTF8.self))?.isFinite == true
            else {
                throw .wrongType(
                    field: field,
                    expected: "a number of up to \(maximumNumberSize) characters in the range of a double",
                    found: "another number")
            }
            return .number(utf8)
        case .string(let utf8): return .text(try checked(utf8, field))
        case .array, .object:
            throw .wrongType(field: field, expected: "a string, a number, true, false or null", found: value.kind)
        }
    }

    /// Returns a text that is short enough and contains no NUL, because a database may end a text there.
    private static func checked(_ utf8: [UInt8], _ field: String) throws(Problem) -> [UInt8] {
        guard utf8.count <= maximumTextSize else {
            throw .invalidField(FieldError(field: field, reason: .tooLong(maximumBytes: maximumTextSize)))
        }
        guard !utf8.contains(0) else { throw .invalidField(FieldError(field: field, reason: .controlCharacter)) }
        return utf8
    }
}
