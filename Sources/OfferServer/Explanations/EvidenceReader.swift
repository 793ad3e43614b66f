import OfferCore

/// Takes texts out of the members of a request for an explanation: only their sizes and JSON types are held to anything.
struct EvidenceReader {
    private let members: JSONObject
    private let reader: MemberReader

    init(_ members: JSONObject) {
        self.members = members
        reader = MemberReader(members)
    }

    /// Whether it is there, and not null.
    func has(_ name: String) -> Bool { members[name] != nil && members[name] != .null }

    /// Refuses every member but those of these names. None is reserved: what a server made is what is presented.
    /// - Parameter nullNames: of those that may be null.
    func refuseOthers(than names: Set<String>, orNull nullNames: Set<String> = []) throws(Problem) {
        for member in members.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard names.contains(name) || nullNames.contains(name) && member.value == .null else {
                throw .unknownField(name)
            }
        }
    }

    func text(_ name: String, maximumSize: Int = 1024) throws(Problem) -> [UInt8] {
        try reader.field(name, Self.check(maximumSize))
    }

    /// - Returns: nil if it is not there, or null.
    func optionalText(_ name: String, maximumSize: Int = 1024) throws(Problem) -> [UInt8]? {
        if members[name] == .null { return nil }
        return try reader.optionalField(name, Self.check(maximumSize))
    }

    /// A text with two names, of which a request may use either.
    func text(_ name: String, or other: String) throws(Problem) -> (text: [UInt8], name: String) {
        (try reader.field(name, or: other, Self.check(1024)), members[other] == nil ? name : other)
    }

    func optionalText(_ name: String, or other: String) throws(Problem) -> [UInt8]? {
        if members[name] != nil, members[other] != nil { throw .conflictingFields(name, other) }
        return if let text = try optionalText(name) { text } else { try optionalText(other) }
    }

    /// A number, or a text that should be one.
    func digits(_ name: String) throws(Problem) -> [UInt8] {
        guard case .number(let digits) = members[name] else { return try text(name) }
        guard digits.count <= 1024 else { throw .invalidField(Self.tooLong(name, 1024)) }
        return digits
    }

    func optionalBool(_ name: String) throws(Problem) -> Bool? {
        switch members[name] {
        case nil, .null: nil
        case .bool(let value): value
        case .some(let value): throw .wrongType(field: name, expected: "true or false", found: value.kind)
        }
    }

    /// An app may attach nothing, and that may be what is wrong.
    func customer() throws(Problem) -> (text: [UInt8], name: String) {
        guard members["appAccountToken"] != nil else {
            return (try optionalText("applicationUsername") ?? [], "applicationUsername")
        }
        guard members["applicationUsername"] == nil else {
            throw .conflictingFields("applicationUsername", "appAccountToken")
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
