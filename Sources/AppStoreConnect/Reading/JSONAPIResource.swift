import OfferCore

/// A resource of a ``JSONAPIDocument``.
package struct JSONAPIResource: Sendable {
    package struct Identifier: Hashable, Sendable {
        /// The type, such as `subscriptions`.
        package let type: String
        package let id: String
    }

    package struct Relationship: Sendable {
        /// The resources referred to; nil if the answer has only links.
        package let identifiers: [Identifier]?
        /// The number of references that are not identifiers.
        package let unreadableCount: Int
        /// The number of resources in the whole relationship; nil if it is unknown.
        package let total: Int?
    }

    package let identifier: Identifier
    package let relationships: [String: Relationship]
    private let attributes: JSONValue?

    /// - Returns: nil if the value is not an object with a type and an ID.
    init?(_ value: JSONValue) {
        guard let identifier = Identifier(value) else { return nil }
        self.identifier = identifier
        attributes = value["attributes"]
        guard case .object(let members)? = value["relationships"] else {
            relationships = [:]
            return
        }
        relationships = Dictionary(
            members.members.compactMap { member in
                guard case .object = member.value else { return nil }
                return (String(decoding: member.name, as: UTF8.self), Relationship(member.value))
            }, uniquingKeysWith: { first, _ in first })
    }

    package var id: String { identifier.id }

    /// Returns a string attribute; nil if it is missing, null, empty or of another type.
    package func text(_ name: String) -> String? { attributes?[name]?.text.flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns true if the answer has the attribute, even as null.
    package func has(_ name: String) -> Bool { attributes?[name] != nil }

    package func integer(_ name: String) -> Int? { attributes?[name]?.integer }

    package func flag(_ name: String) -> Bool? { attributes?[name]?.flag }

    /// Returns the ID of the only resource that a relationship refers to.
    package func relatedID(_ name: String) -> String? { relationships[name]?.identifiers?.first?.id }
}

extension JSONAPIResource.Identifier {
    /// - Returns: nil for a text that cannot be part of a path.
    init?(_ value: JSONValue) {
        guard let type = value["type"]?.text, let id = value["id"]?.text, (1...512).contains(id.utf8.count),
            !type.isEmpty
        else { return nil }
        self.init(type: type, id: id)
    }
}

extension JSONAPIResource.Relationship {
    fileprivate init(_ value: JSONValue) {
        let entries: [JSONValue]?
        switch value["data"] {
        case .array(let values)?: entries = values
        case .object(let value)?: entries = [.object(value)]
        case .null?: entries = []
        default: entries = nil
        }
        let identifiers = entries?.compactMap(JSONAPIResource.Identifier.init)
        self.init(
            identifiers: identifiers, unreadableCount: (entries?.count ?? 0) - (identifiers?.count ?? 0),
            total: value["meta"]?["paging"]?["total"]?.integer)
    }
}
