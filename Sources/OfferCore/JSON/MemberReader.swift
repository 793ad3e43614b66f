/// A reader of typed fields from a JSON object. Its errors say which member is wrong and why.
package struct MemberReader {
    /// A function that makes a field from its text and from the name that the caller sent.
    package typealias Check<Field> = (_ utf8: [UInt8], _ name: String) throws(FieldError) -> Field

    private let members: JSONObject

    package init(_ members: JSONObject) {
        self.members = members
    }

    package func field<Field>(_ name: String, _ check: Check<Field>) throws(MemberError) -> Field {
        guard let field = try optionalField(name, check) else { throw .missing(name) }
        return field
    }

    /// Reads a field that has either of two names.
    package func field<Field>(
        _ name: String, or other: String, _ check: Check<Field>
    ) throws(MemberError) -> Field {
        switch (members[name], members[other]) {
        case (.some, .some): throw .conflicting(name, other)
        case (nil, .some): try field(other, check)
        case (_, nil): try field(name, check)
        }
    }

    package func optionalField<Field>(_ name: String, _ check: Check<Field>) throws(MemberError) -> Field? {
        guard let value = members[name] else { return nil }
        guard case .string(let utf8) = value else {
            throw .wrongType(name, expected: "a string", found: value.kind)
        }
        do { return try check(utf8, name) } catch { throw .invalid(error) }
    }

    package func bool(_ name: String) throws(MemberError) -> Bool {
        guard let value = members[name] else { throw .missing(name) }
        guard case .bool(let bool) = value else {
            throw .wrongType(name, expected: "true or false", found: value.kind)
        }
        return bool
    }

    /// True if the members name a customer, valid or not.
    package var namesCustomer: Bool { members["applicationUsername"] != nil || members["appAccountToken"] != nil }

    /// Reads the customer. An absent customer is an error, but an empty username is not.
    ///
    /// Omitting the field when signing is the most common cause of signatures that look right but fail on the device.
    package func customer() throws(MemberError) -> Customer {
        switch (members["applicationUsername"], members["appAccountToken"]) {
        case (nil, nil):
            throw .missingCustomer
        case (.some, .some):
            throw .conflicting("applicationUsername", "appAccountToken")
        case (.some, nil):
            return try field("applicationUsername") { utf8, _ throws(FieldError) in
                try Customer(applicationUsername: utf8)
            }
        case (nil, .string(let utf8)?) where utf8.isEmpty:
            throw .emptyAppAccountToken
        case (nil, .some):
            return try field("appAccountToken") { utf8, _ throws(FieldError) in
                try Customer(appAccountToken: utf8)
            }
        }
    }

    /// Refuses members that only the server may produce, in any letter case.
    /// - Parameter makesJWS: true if the request can produce a JWS. Apple's sample never produces one and ignores JWS
    ///   members.
    package func refuseReserved(makesJWS: Bool) throws(MemberError) {
        for member in members.members
        where Self.isReserved(member.name, Self.reserved)
            || makesJWS && Self.isReserved(member.name, Self.reservedInJWS)
        {
            throw .reserved(String(decoding: member.name, as: UTF8.self))
        }
    }

    /// Refuses all members except these.
    package func refuseOthers(than names: Set<String>) throws(MemberError) {
        for member in members.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard names.contains(name) else {
                let isReserved =
                    Self.isReserved(member.name, Self.reserved) || Self.isReserved(member.name, Self.reservedInJWS)
                throw isReserved ? .reserved(name) : .unknown(name)
            }
        }
    }

    private static func isReserved(_ name: [UInt8], _ reserved: [[UInt8]]) -> Bool {
        reserved.contains { name.isEqual(toLowerCase: $0) }
    }

    private static let reserved = ["keyid", "keyidentifier", "nonce", "timestamp", "signature"].map { Array($0.utf8) }
    /// Members of a JWS's header and claims.
    private static let reservedInJWS = [
        "alg", "kid", "typ", "iss", "issuerid", "iat", "exp", "aud", "bid", "compactjws",
    ].map { Array($0.utf8) }
}
