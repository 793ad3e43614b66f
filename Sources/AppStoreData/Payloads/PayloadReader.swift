import OfferCore

/// The known members of one JSON object, found in a single pass. Unknown members are ignored.
struct PayloadReader<Member: PayloadMember> {
    private var values: [JSONValue?]
    /// The path of the object inside its payload: empty, or the parent's name and a dot.
    private let path: String
    /// True if timestamps may have a fraction. Xcode sends fractions, but Apple's servers never do.
    var acceptsFractions = false

    /// Reads the members of an object. A member with the value `null` counts as absent, as in Apple's own libraries.
    init(_ object: JSONObject, _ index: MemberIndex<Member>, path: String = "") {
        values = Array(repeating: nil, count: index.count)
        self.path = path
        for member in object.members {
            guard let place = index.place(of: member.name) else { continue }
            if case .null = member.value { continue }
            values[place] = member.value
        }
    }

    /// - Returns: nil if the member is absent.
    subscript(member: Member) -> PayloadValue? {
        guard let value = values[member.rawValue] else { return nil }
        return PayloadValue(name: name(of: member), value: value, acceptsFractions: acceptsFractions)
    }

    func required(_ member: Member) throws(PayloadError) -> PayloadValue {
        guard let value = self[member] else { throw PayloadError(.missing, member: name(of: member)) }
        return value
    }

    private func name(of member: Member) -> String {
        path.isEmpty ? member.stringValue : path + member.stringValue
    }
}
