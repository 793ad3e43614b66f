import AppStoreConnect
import AppStoreStandIn
import Foundation
import OfferCore
import OfferEligibility
import Testing

@Suite("Answers of App Store Connect from which something is missing")
struct IncompleteAnswerTests {
    private typealias JSON = [String: Any]

    private static let basic = "com.example.app.basic.monthly"

    @Test(
        "a list that is shorter than its stated total proves no absence",
        arguments: ["subscriptions", "promotionalOffers"])
    func shorter(list: String) async throws {
        let listing = try await Self.listing { path, document in
            guard path.hasSuffix(list) else { return Self.shortenRelationships(in: &document) }
            document["data"] = Array((document["data"] as? [JSON] ?? []).dropLast())
        }
        #expect(listing.unreadableCount > 0)
        #expect(try !listing.lacks(Self.productID(Self.basic), OfferID(utf8: Array("basic_1m".utf8))))
    }

    @Test("a relationship without a total is read as a list, which decides")
    func withoutTotal() async throws {
        let listing = try await Self.listing { _, document in Self.shortenRelationships(in: &document) }
        #expect(listing.unreadableCount == 0 && listing.products.allSatisfy { $0.hasAllOffers })
        #expect(listing.products.map(\.offers.count) == [3, 1, 1, 0])
    }

    @Test("an expected offer that a page lacks is looked for in the list of its product")
    func confirmed() async throws {
        let lying = try await Self.listing { _, document in Self.emptyRelationships(in: &document) }
        #expect(lying.products.map(\.offers.count) == [0, 0, 1, 0] && lying.unreadableCount == 0)
        var catalogue = ConnectCatalogue.example
        catalogue[Self.basic]?.offers = []
        let listing = try await Self.listing(catalogue) { _, _ in }
        #expect(try listing.lacks(Self.productID(Self.basic), OfferID(utf8: Array("basic_1m".utf8))))
    }

    @Test("an app without any offer is not believed to have lost them all")
    func withoutOffers() async throws {
        let listing = try await Self.listing { path, document in
            Self.emptyRelationships(in: &document)
            guard path.hasSuffix("promotionalOffers") else { return }
            document["data"] = [] as [JSON]
            document["meta"] = ["paging": ["total": 0, "limit": 50]]
        }
        #expect(listing.isComplete && listing.products.allSatisfy { $0.offers.isEmpty && $0.hasAllOffers })
        #expect(try !listing.lacks(Self.productID(Self.basic), OfferID(utf8: Array("basic_1m".utf8))))
        let empty = try await Self.listing { path, document in
            guard path.hasSuffix("subscriptionGroups") else { return }
            document["data"] = [] as [JSON]
            document["meta"] = ["paging": ["total": 0, "limit": 200]]
        }
        #expect(empty.isComplete && empty.products.isEmpty)
        #expect(try !empty.lacks(Self.productID(Self.basic), OfferID(utf8: Array("basic_1m".utf8))))
    }

    @Test("a link to the next page may be an object, but not another value")
    func links() async throws {
        let whole = try await Self.listing(pageSize: 1) { _, document in
            guard var links = document["links"] as? JSON, let next = links["next"] else { return }
            links["next"] = ["href": next]
            document["links"] = links
        }
        #expect(whole.products.count == 4)
        for odd: any Sendable in [7, "a\u{0}b", [String](), true] {
            await #expect(throws: AppStoreConnectFailure.self) {
                _ = try await Self.listing { _, document in document["links"] = ["next": odd] }
            }
        }
    }

    @Test("a list that only the command pull shows may be missing or forbidden", arguments: [403, 404])
    func winBackOffers(status: Int) async throws {
        let fixture = try await ConnectFixture()
        fixture.standIn.setChange { _, document in Self.shortenRelationships(in: &document) }
        fixture.standIn.setStatus(status, of: "winBackOffers")
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.products.count == 4 && listing.unreadableCount == 0)
        #expect(listing.products.allSatisfy { $0.winBackOffers.isEmpty })
    }

    @Test(
        "offers that disappear while they are read count as unreadable, and forbidden ones as a role that is too small")
    func offers() async throws {
        let gone = try await ConnectFixture()
        gone.standIn.setChange { _, document in Self.shortenRelationships(in: &document) }
        gone.standIn.setStatus(404, of: "promotionalOffers")
        let listing = try await gone.withClient { try await gone.read($0) }
        #expect(listing.unreadableCount == 4 && listing.products.allSatisfy { !$0.hasAllOffers })
        let forbidden = try await ConnectFixture()
        forbidden.standIn.setChange { _, document in Self.shortenRelationships(in: &document) }
        forbidden.standIn.setStatus(403, of: "promotionalOffers")
        await #expect(throws: AppStoreConnectFailure.self) {
            _ = try await forbidden.withClient { try await forbidden.read($0) }
        }
    }

    @Test("numbers at the edge of their range lead to no overflow", arguments: [Int.min, -1, 0, Int.max])
    func numbers(number: Int) async throws {
        let listing = try await Self.listing { _, document in
            document["meta"] = ["paging": ["total": number]]
            document["data"] = (document["data"] as? [JSON])?.map { resource in
                var resource = resource
                var attributes = resource["attributes"] as? JSON ?? [:]
                for name in ["groupLevel", "numberOfPeriods"] { attributes[name] = number }
                resource["attributes"] = attributes
                return resource
            }
        }
        #expect(listing.products.count == 4 && listing.products.allSatisfy { $0.level == nil })
        #expect(listing.isComplete == (number != Int.max))
        let app = Catalogue.App(offers: [try Self.productID(Self.basic): []])
        #expect(app.adding(listing).rules.products.ranks.isEmpty)
        #expect(try !listing.yaml(of: ConnectFixture.bundleID).isEmpty)
    }

    @Test("a territory with an unreadable entry has no known price, and the others keep theirs")
    func prices() async throws {
        let listing = try await Self.listing { path, document in
            guard path == "subscriptions/s-com.example.app.basic.monthly/prices" else { return }
            let newer: JSON = [
                "type": "subscriptionPrices", "id": "newer", "attributes": ["startDate": "2026-01-01"],
                "relationships": ["territory": ["data": ["type": "territories", "id": "USA"]]],
            ]
            document["data"] = (document["data"] as? [JSON] ?? []) + [newer]
        }
        let product = try listing.product(Self.productID(Self.basic))
        #expect(product?.prices(of: nil).keys.sorted() == ["DEU", "FRA"])
    }

    private static func listing(
        _ catalogue: ConnectCatalogue = .example, pageSize: Int = 200,
        _ change: @escaping @Sendable (String, inout [String: Any]) -> Void
    ) async throws -> AppListing {
        let fixture = try await ConnectFixture(catalogue)
        fixture.standIn.setPageSize(pageSize)
        fixture.standIn.setChange(change)
        let wanted = try [productID(basic): Set([OfferID(utf8: Array("basic_1m".utf8))])]
        return try await fixture.withClient { try await fixture.read($0, .only(wanted)) }
    }

    private static func productID(_ text: String) throws -> ProductID { try ProductID(utf8: Array(text.utf8)) }

    /// Leaves the total out of each relationship, and its last reference.
    private static func shortenRelationships(in document: inout [String: Any]) {
        changeRelationships(in: &document) { offers in
            offers["meta"] = nil
            offers["data"] = Array((offers["data"] as? [Any] ?? []).dropLast())
        }
    }

    private static func emptyRelationships(in document: inout [String: Any]) {
        changeRelationships(in: &document) { offers in
            offers = ["data": [] as [Any], "meta": ["paging": ["total": 0, "limit": 50]]]
        }
    }

    private static func changeRelationships(in document: inout [String: Any], _ change: (inout JSON) -> Void) {
        document["data"] = (document["data"] as? [JSON])?.map { resource in
            guard var relationships = resource["relationships"] as? JSON, resource["type"] as? String == "subscriptions"
            else { return resource }
            for name in ["promotionalOffers", "winBackOffers"] {
                guard var relationship = relationships[name] as? JSON else { continue }
                change(&relationship)
                relationships[name] = relationship
            }
            var resource = resource
            resource["relationships"] = relationships
            return resource
        }
    }
}
