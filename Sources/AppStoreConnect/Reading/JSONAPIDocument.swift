import OfferCore

/// One page of an answer in the form of JSON:API (https://jsonapi.org, version 1.0).
///
/// It is read leniently: an entry that is not a resource is counted and left out, and spoils no other entry.
package struct JSONAPIDocument: Sendable {
    /// The resources of the page, in order.
    package let resources: [JSONAPIResource]
    /// The number of entries in `data` that are not resources.
    package let unreadableCount: Int
    /// The link to the next page as received; nil on the last page. It is not trusted.
    package let next: String?
    /// The number of resources on all pages; nil if it is unknown.
    package let total: Int?
    private let included: [JSONAPIResource.Identifier: JSONAPIResource]

    private static let maximumCount = 20_000
    private static let maximumTotal = 400_000

    /// - Throws: the reason, if the text is not a JSON:API document at all, such as a gateway's HTML, or hides whether there is
    ///   another page.
    package init(json: [UInt8]) throws(AppStoreConnectFailure) {
        let value: JSONValue
        do {
            value = try JSONReader.read(json, maximumCount: Self.maximumCount, maximumTotal: Self.maximumTotal)
        } catch { throw .unreadable("it is not JSON") }
        guard case .object(let document) = value else { throw .unreadable("it is not a JSON object") }
        let entries: [JSONValue]
        switch document["data"] {
        case .array(let values)?: entries = values
        case .object(let value)?: entries = [.object(value)]
        case .null?: entries = []
        default: throw .unreadable("it has no data")
        }
        resources = entries.compactMap(JSONAPIResource.init)
        unreadableCount = entries.count - resources.count
        let others = if case .array(let values)? = document["included"] { values } else { [JSONValue]() }
        included = Dictionary(
            others.compactMap(JSONAPIResource.init).map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first }
        )
        next = try Self.next(document["links"]?["next"])
        // The limit keeps sums of totals from overflowing.
        total = document["meta"]?["paging"]?["total"]?.integer.flatMap { $0 < 0 ? nil : min($0, 1_000_000) }
    }

    /// - Parameter link: a text, or an object with `href`.
    private static func next(_ link: JSONValue?) throws(AppStoreConnectFailure) -> String? {
        guard let link, link != .null else { return nil }
        guard let text = (link["href"] ?? link).text else { throw .unreadable("its link to the next page is not text") }
        return text
    }

    /// Returns the resources that a relationship refers to, and whether the document contains all of them.
    ///
    /// App Store Connect leaves relationships out of sparse answers and shortens long ones. Absence therefore proves
    /// nothing, unless the answer states how many resources there are.
    package func related(
        _ name: String, of resource: JSONAPIResource
    ) -> (resources: [JSONAPIResource], isComplete: Bool) {
        guard let relationship = resource.relationships[name], let identifiers = relationship.identifiers else {
            return ([], false)
        }
        let resources = identifiers.compactMap { included[$0] }
        let isWhole = relationship.total.map { $0 <= identifiers.count } ?? false
        return (resources, isWhole && resources.count == identifiers.count && relationship.unreadableCount == 0)
    }
}

extension [JSONAPIDocument] {
    /// The number of entries on the pages of a list that are not resources, and of those that the list should have and lacks.
    var unreadableCount: Int {
        let found = map { $0.resources.count + $0.unreadableCount }.reduce(0, +)
        let announced = compactMap(\.total).max() ?? 0
        return map(\.unreadableCount).reduce(0, +) + Swift.max(0, announced - found)
    }
}

extension JSONValue {
    /// Returns the member of an object; nil for any other value.
    subscript(name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }

    /// The string; nil for any other value, and for one with control characters.
    var text: String? {
        guard case .string(let utf8) = self, !utf8.contains(where: { $0 < 0x20 }) else { return nil }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// The whole number; nil for any other value.
    var integer: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The truth value; nil for any other value.
    var flag: Bool? { if case .bool(let value) = self { value } else { nil } }
}
