package import OfferCore

/// Takes fields out of the members of a request, and says which is wrong and how.
package struct MemberReader {
    /// Makes a field of its text and the name that the caller gave it.
    package typealias Check<Field> = (_ utf8: [UInt8], _ name: String) throws(FieldError) -> Field

    private let members: JSONObject

    package init(_ members: JSONObject) {
        self.members = members
    }

    package func field<Field>(_ name: String, _ check: Check<Field>) throws(Problem) -> Field {
        guard let field = try optionalField(name, check) else { throw .missingField(name) }
        return field
    }

    /// A field with two names, of which a request may use either.
    package func field<Field>(
        _ name: String, or other: String, _ check: Check<Field>
    ) throws(Problem) -> Field {
        switch (members[name], members[other]) {
        case (.some, .some): throw .conflictingFields(name, other)
        case (nil, .some): try field(other, check)
        case (_, nil): try field(name, check)
        }
    }

    package func optionalField<Field>(_ name: String, _ check: Check<Field>) throws(Problem) -> Field? {
        guard let value = members[name] else { return nil }
        guard case .string(let utf8) = value else {
            throw .wrongType(field: name, expected: "a string", found: value.kind)
        }
        do { return try check(utf8, name) } catch { throw .invalidField(error) }
    }

    package func bool(_ name: String) throws(Problem) -> Bool {
        guard let value = members[name] else { throw .missingField(name) }
        guard case .bool(let bool) = value else {
            throw .wrongType(field: name, expected: "true or false", found: value.kind)
        }
        return bool
    }

    /// Whether there is a customer, one that can be read or not.
    package var namesCustomer: Bool { members["applicationUsername"] != nil || members["appAccountToken"] != nil }

    /// An absent customer is an error, an empty username is not: leaving the field out is the commonest cause of
    /// signatures that look right and fail on the device.
    package func customer() throws(Problem) -> Customer {
        switch (members["applicationUsername"], members["appAccountToken"]) {
        case (nil, nil):
            throw .missingCustomer
        case (.some, .some):
            throw .conflictingFields("applicationUsername", "appAccountToken")
        case (.some, nil):
            return try field("applicationUsername") { utf8, _ throws(FieldError) in
                try Customer(applicationUsername: utf8)
            }
        case (nil, .some):
            return try field("appAccountToken") { utf8, _ throws(FieldError) in
                try Customer(appAccountToken: utf8)
            }
        }
    }

    /// Refuses a request that tries to choose what only the server may make, however it writes the name.
    /// - Parameter makesJWS: whether a JWS may be made of it. Apple's sample makes none, and passes over its members.
    package func refuseReserved(makesJWS: Bool) throws(Problem) {
        for member in members.members
        where Self.isReserved(member.name, Self.reserved)
            || makesJWS && Self.isReserved(member.name, Self.reservedInJWS)
        {
            throw .reservedField(String(decoding: member.name, as: UTF8.self))
        }
    }

    /// Refuses every member but those of these names.
    package func refuseOthers(than names: Set<String>) throws(Problem) {
        for member in members.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard names.contains(name) else {
                let isReserved =
                    Self.isReserved(member.name, Self.reserved) || Self.isReserved(member.name, Self.reservedInJWS)
                throw isReserved ? .reservedField(name) : .unknownField(name)
            }
        }
    }

    private static func isReserved(_ name: [UInt8], _ reserved: [[UInt8]]) -> Bool {
        reserved.contains { name.isEqual(toLowerCase: $0) }
    }

    private static let reserved = ["keyid", "keyidentifier", "nonce", "timestamp", "signature"].map { Array($0.utf8) }
    /// The header and the claims of a JWS.
    private static let reservedInJWS = [
        "alg", "kid", "typ", "iss", "issuerid", "iat", "exp", "aud", "bid", "compactjws",
    ].map { Array($0.utf8) }
}
