import OfferCore

/// A reader of evidence. Evidence may be wrong in any way, so the reader checks only sizes and JSON types.
struct EvidenceReader {
    private let members: JSONObject
    private let reader: MemberReader

    init(_ members: JSONObject) {
        self.members = members
        reader = MemberReader(members)
    }

    /// Returns true if a member is present and not null.
    func has(_ name: String) -> Bool { members[name] != nil && members[name] != .null }

    /// Refuses all members except these. No name is reserved, because values made by the server are evidence too.
    /// - Parameter nullNames: additional names that are accepted only if their values are null.
    func refuseOthers(than names: Set<String>, orNull nullNames: Set<String> = []) throws(MemberError) {
        for member in members.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard names.contains(name) || nullNames.contains(name) && member.value == .null else {
                throw .unknown(name)
            }
        }
    }

    func text(_ name: String, maximumSize: Int = 1024) throws(MemberError) -> [UInt8] {
        try reader.field(name, Self.check(maximumSize))
    }

    /// - Returns: nil if the member is absent or null.
    func optionalText(_ name: String, maximumSize: Int = 1024) throws(MemberError) -> [UInt8]? {
        if members[name] == .null { return nil }
        return try reader.optionalField(name, Self.check(maximumSize))
    }

    /// Reads a string from a member with either of two names.
    func text(_ name: String, or other: String) throws(MemberError) -> (text: [UInt8], name: String) {
        (try reader.field(name, or: other, Self.check(1024)), members[other] == nil ? name : other)
    }

    func optionalText(_ name: String, or other: String) throws(MemberError) -> [UInt8]? {
        if members[name] != nil, members[other] != nil { throw .conflicting(name, other) }
        return if let text = try optionalText(name) { text } else { try optionalText(other) }
    }

    /// Reads the digits of a number. A string is also accepted.
    func digits(_ name: String) throws(MemberError) -> [UInt8] {
        guard case .number(let digits) = members[name] else { return try text(name) }
        guard digits.count <= 1024 else { throw .invalid(Self.tooLong(name, 1024)) }
        return digits
    }

    func optionalBool(_ name: String) throws(MemberError) -> Bool? {
        switch members[name] {
        case nil, .null: nil
        case .bool(let value): value
        case .some(let value): throw .wrongType(name, expected: "true or false", found: value.kind)
        }
    }

    /// Reads the customer, which may be absent. The app may attach none, and this may be the mistake.
    func customer() throws(MemberError) -> (text: [UInt8], name: String) {
        guard members["appAccountToken"] != nil else {
            return (try optionalText("applicationUsername") ?? [], "applicationUsername")
        }
        guard members["applicationUsername"] == nil else {
            throw .conflicting("applicationUsername", "appAccountToken")
        }
        return (try optionalText("appAccountToken") ?? [], "appAccountToken")
    }

    private static func check(_ maximumSize: Int) -> MemberReader.Check<[UInt8]> {
        { utf8, name throws(FieldError) in
            guard utf8.count <= maximumSize else { throw tooLong(name, maximumSize) }
            return utf8
        }
    }

    private static func tooLong(_ name: String, _ size: Int) -> FieldError {
        FieldError(field: name, reason: .tooLong(maximumBytes: size))
    }
}
