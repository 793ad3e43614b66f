import OfferCore
import OfferEligibility
import Yams

/// Reads the products of an app with their offers.
enum ProductsReader {
    struct Product {
        let offers: Set<OfferID>
        let terms: [OfferTerms]
        let group: String?
        let rank: Int?
        let isFamilySharable: Bool
        /// The prices of the offers that have one.
        let prices: [OfferPrice]
        /// The position in the file.
        let place: Int
    }

    static func read(
        _ place: RuleNode, _ rules: inout RulesReader, _ reader: inout YAMLReader
    ) -> [ProductID: Product] {
        var products: [ProductID: Product] = [:]
        for (index, node) in reader.items(of: place.node, "products").enumerated() {
            let item = RuleNode(node, place.path + "[\(index)]")
            guard let (productID, product) = readProduct(item, index, &rules, &reader) else { continue }
            if products.updateValue(product, forKey: productID) != nil {
                reader.add("this product is a duplicate", at: node, hint: "list all of its offers in one place")
            }
        }
        return products
    }

    private static func readProduct(
        _ place: RuleNode, _ index: Int, _ rules: inout RulesReader, _ reader: inout YAMLReader
    ) -> (ProductID, Product)? {
        let members = reader.members(
            of: place.node, "a product",
            known: ["productID", "subscriptionGroupID", "rank", "familySharable", "price", "offers"],
            required: ["productID", "offers"])
        let productID = members["productID"].flatMap { node in
            reader.value(of: node) { text throws(FieldError) in try ProductID(utf8: text, field: "productID") }
        }
        let group = members["subscriptionGroupID"].flatMap { reader.digits(of: $0, "subscriptionGroupID") }
        let rank = members["rank"].flatMap { reader.integer(of: place.member("rank", $0)) }
        let isFamilySharable = members["familySharable"].flatMap { reader.bool(of: $0, "familySharable") } ?? false
        let price = members["price"].map { reader.prices(of: place.member("price", $0)) } ?? [:]
        var (offers, terms, prices): (Set<OfferID>, [OfferTerms], [OfferPrice]) = ([], [], [])
        let nodes = members["offers"].map { reader.items(of: $0, "offers") } ?? []
        for (number, node) in nodes.enumerated() {
            let item = RuleNode(node, place.path + ".offers[\(number)]")
            guard let offer = OfferTermsReader.read(item, of: productID, &rules, &reader) else { continue }
            if !offers.insert(offer.offerID).inserted {
                reader.add("this offer is a duplicate", at: node, hint: "remove one")
            }
            if let offered = offer.terms { terms.append(offered) }
            guard let productID, !offer.price.isEmpty else { continue }
            let compared = OfferPrice(
                productID: productID, offerID: offer.offerID, mode: offer.mode, periods: offer.periods,
                price: offer.price, productPrice: price)
            refuseExcess(of: compared, at: offer.place, &reader)
            prices.append(compared)
        }
        guard let productID else { return nil }
        let product = Product(
            offers: offers, terms: terms, group: group, rank: rank, isFamilySharable: isFamilySharable, prices: prices,
            place: index)
        return (productID, product)
    }

    /// Refuses a price that no offer of its mode can have. ``CatalogueLint`` warns about the others.
    private static func refuseExcess(of price: OfferPrice, at place: RuleNode, _ reader: inout YAMLReader) {
        for excess in price.excesses where excess.isImpossible {
            let amount = "the offer costs \(excess.amount) \(excess.currency)"
            if price.mode == .freeTrial {
                reader.contradict(place, "\(amount), and is a free trial", hint: "correct the price or the mode")
            } else {
                reader.contradict(
                    place, "\(amount) for each period, and the product \(excess.full)",
                    hint: "an offer must be cheaper than its product; correct one of the prices, or the mode")
            }
        }
    }
}

/// Reads the parts of an app that rules decide.
enum AppRulesReader {
    static func read(
        _ members: [String: YAMLNode], at place: RuleNode, of app: RetentionReader.App,
        _ rules: inout RulesReader, _ reader: inout YAMLReader
    ) -> AppRules {
        let introductory = members["introductoryOffers"].flatMap { node -> Rule? in
            let place = place.member("introductoryOffers", node)
            let members = reader.members(of: place, "introductoryOffers", known: ["rule"])
            return members["rule"].flatMap { rules.rule(at: $0, &reader) }
        }
        let products = app.products
        let retention = members["retention"].map {
            RetentionReader.read(place.member("retention", $0), of: app, &rules, &reader)
        }
        let sorted = products.sorted { $0.value.place < $1.value.place }
        return AppRules(
            offers: sorted.flatMap(\.value.terms), introductoryOffers: introductory, retention: retention ?? [],
            products: ProductTraits(
                groups: products.compactMapValues(\.group), ranks: products.compactMapValues(\.rank),
                offers: products.mapValues(\.offers)),
            prefersWinBackOffers: members["preferWinBackOffers"].flatMap { reader.bool(of: $0, "preferWinBackOffers") }
                ?? false,
            allowsSandboxV1: members["sandboxV1"].flatMap { reader.bool(of: $0, "sandboxV1") },
            jwsLifetime: members["jwsLifetime"].flatMap { reader.duration(of: $0, "jwsLifetime") } ?? .hours(24))
    }
}
