import OfferCore

/// A person whom the identity provider has signed in.
package struct SignedInPerson: Hashable, Sendable {
    /// The provider's lasting identifier of the person (`sub`). A name or an address may pass to someone else.
    package let subject: String
    /// The name to show: on one line, at most 100 characters.
    package let displayName: String
    /// The values of the claim for ``RoleMapping``; empty if the token does not have the claim.
    package let roleValues: [String]

    /// Reads the claims of a token whose signature and validity have been checked.
    init(_ claims: JSONObject, roleClaim: String) throws(IDTokenFault) {
        // OpenID Connect Core 1.0 section 2 allows 255 characters.
        guard case .string(let subject) = claims["sub"],
            let subject = try? FieldText(utf8: subject, field: "sub", sizes: 1...255)
        else { throw .noSubject }
        self.subject = subject.description
        let names = ["name", "preferred_username", "email"].lazy.compactMap { Self.name(claims[$0]) }
        displayName = names.first ?? Self.name(.string(subject.utf8)) ?? self.subject
        switch claims[roleClaim] {
        case nil, .null: roleValues = []
        case .string(let text): roleValues = [String(decoding: text, as: UTF8.self)]
        case .array(let elements):
            let texts = elements.compactMap { element -> String? in
                if case .string(let text) = element { String(decoding: text, as: UTF8.self) } else { nil }
            }
            guard texts.count == elements.count else { throw .roleClaim }
            roleValues = texts
        default: throw .roleClaim
        }
    }

    /// Cleans a name: no control and format characters, no surrounding blanks.
    private static func name(_ value: JSONValue?) -> String? {
        guard case .string(let utf8) = value, !FieldText.isBlank(utf8) else { return nil }
        let name = String(decoding: utf8.prefix(4096), as: UTF8.self).printable
        // A character can have any number of combining marks.
        let scalars = name.unicodeScalars.drop { $0.properties.isWhitespace }.prefix(100)
        var text = String(String.UnicodeScalarView(scalars))
        while text.last?.isWhitespace == true { text.removeLast() }
        return text.isEmpty ? nil : text
    }
}
