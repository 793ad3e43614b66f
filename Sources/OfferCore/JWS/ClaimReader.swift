/// A member-by-member reader of the header or the claims of a JWS.
struct ClaimReader {
    private let members: JSONObject

    init(json: [UInt8]) throws(CompactJWSFault) {
        guard case .object(let members) = try? JSONReader.read(json) else { throw .notAnObject }
        self.members = members
    }

    func refuseOthers(than names: [String]) throws(CompactJWSFault) {
        for member in members.members where !names.contains(where: { member.name.elementsEqual($0.utf8) }) {
            throw .claim(String(decoding: member.name, as: UTF8.self))
        }
    }

    func require(_ name: String, _ value: String) throws(CompactJWSFault) {
        guard try text(name).elementsEqual(value.utf8) else { throw .claim(name) }
    }

    func text(_ name: String) throws(CompactJWSFault) -> [UInt8] {
        guard case .string(let text) = members[name] else { throw .claim(name) }
        return text
    }

    /// - Parameter check: a function that makes a field from its text and name.
    func field<Field>(
        _ name: String, _ check: (_ utf8: [UInt8], _ name: String) throws(FieldError) -> Field
    ) throws(CompactJWSFault) -> Field {
        do { return try check(text(name), name) } catch { throw .claim(name) }
    }

    func optionalField<Field>(
        _ name: String, _ check: (_ utf8: [UInt8], _ name: String) throws(FieldError) -> Field
    ) throws(CompactJWSFault) -> Field? {
        members[name] == nil ? nil : try field(name, check)
    }

    /// Reads a field that must be in lower case. UUIDs parse in either case, but only the lower-case form is signed.
    func lowerCaseField<Field>(
        _ name: String, _ check: (_ utf8: [UInt8], _ name: String) throws(FieldError) -> Field
    ) throws(CompactJWSFault) -> Field {
        guard try !text(name).contains(where: (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains) else {
            throw .claim(name)
        }
        return try field(name, check)
    }

    func bool(_ name: String) throws(CompactJWSFault) -> Bool {
        guard case .bool(let value) = members[name] else { throw .claim(name) }
        return value
    }

    /// Reads an integer written without a fraction or an exponent.
    func integer(_ name: String) throws(CompactJWSFault) -> Int64 {
        guard case .number(let digits) = members[name], let integer = Int64(String(decoding: digits, as: UTF8.self))
        else { throw .claim(name) }
        return integer
    }

    /// Reads a JSON object encoded in standard base64.
    func base64Object(_ name: String) throws(CompactJWSFault) -> JSONObjectText {
        guard let json = Base64.bytes(of: try text(name)), let object = try? JSONObjectText(json) else {
            throw .claim(name)
        }
        return object
    }
}
