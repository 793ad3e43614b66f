import AppStoreStandIn
import OfferCore
import OfferEligibility
import Testing

@Suite("The price lists of App Store Connect")
struct ListedPriceTests {
    @Test("the current price is the newest that has begun, and not one preserved for earlier subscribers")
    func current() async throws {
        var catalogue = ConnectCatalogue.example
        func price(_ amount: String, from date: String? = nil, preserved: Bool = false) -> ConnectCatalogue.Price {
            var price = ConnectCatalogue.Price("USA", amount)
            (price.startDate, price.isPreserved) = (date, preserved)
            return price
        }
        let product = "com.example.app.news.monthly"
        catalogue[product]?.prices = [
            price("1.99", preserved: true), price("2.99", from: "2020-01-01"), price("3.99", from: "2024-05-01"),
            price("4.99", from: "2999-01-01"),
        ]
        let fixture = try await ConnectFixture(catalogue)
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.products.last?.prices(of: nil)["USA"]?.amount == "3.99")
    }

    @Test("entries of one day that disagree leave the price unknown")
    func ambiguous() async throws {
        var catalogue = ConnectCatalogue.example
        catalogue["com.example.app.news.monthly"]?.prices = [
            ConnectCatalogue.Price("USA", "1.99"), ConnectCatalogue.Price("USA", "2.99"),
            ConnectCatalogue.Price("DEU", "2.49"),
        ]
        let fixture = try await ConnectFixture(catalogue)
        let listing = try await fixture.withClient { try await fixture.read($0) }
        #expect(listing.products.last?.prices(of: nil).keys.sorted() == ["DEU"])
    }

    @Test(
        "an amount consists of digits and at most one point",
        arguments: ["", "-1", "1e5", "1,99", ".5", "5.", "nan", "0x1"])
    func amounts(text: String) {
        #expect(ListedPrice(amount: text, currency: "USD") == nil)
        #expect(ListedPrice(amount: "9.99", currency: nil)?.text == "9.99")
    }
}
