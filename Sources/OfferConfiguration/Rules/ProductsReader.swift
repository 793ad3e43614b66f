import OfferCore
import OfferEligibility

/// Reads the products of an app and their offers.
enum ProductsReader {
    struct Product {
        let offers: Set<OfferID>
        let terms: [OfferTerms]
        let group: String?
        let rank: Int?
        let isFamilySharable: Bool
        /// The terms of those offers that state any.
        let prices: [OfferPrice]
        /// The price of one period, by currency.
        let price: [String: Double]
        /// The billing plans of those offers that name one.
        let billingPlans: [OfferID: BillingPlanType]
        /// The position of the product in the file.
        let place: Int
    }

    static func read(_ value: YAMLValue, _ rules: RulesReader) -> [ProductID: Product] {
        var products: [ProductID: Product] = [:]
        for (place, item) in value.list("products").enumerated() {
            guard let (productID, product) = readProduct(item, place, rules) else { continue }
            if products.updateValue(product, forKey: productID) != nil {
                item.report("this product is a duplicate", hint: "list all of its offers in one place")
            }
        }
        return products
    }

    private static func readProduct(
        _ value: YAMLValue, _ place: Int, _ rules: RulesReader
    ) -> (ProductID, Product)? {
        let members = value.members(
            "a product", known: ["productID", "subscriptionGroupID", "rank", "familySharable", "price", "offers"],
            required: ["productID", "offers"])
        let productID = members["productID"]?.identifier { text throws(FieldError) in
            try ProductID(utf8: text, field: "productID")
        }
        let group = members["subscriptionGroupID"].flatMap(readGroup)
        let rank = members["rank"]?.number(in: -1_000_000...1_000_000)
        let isFamilySharable = members["familySharable"]?.flag() ?? false
        let price = members["price"]?.prices() ?? [:]
        var (offers, terms, prices): (Set<OfferID>, [OfferTerms], [OfferPrice]) = ([], [], [])
        var billingPlans: [OfferID: BillingPlanType] = [:]
        for item in members["offers"]?.list("offers") ?? [] {
            guard let offer = OfferTermsReader.read(item, of: productID, rules) else { continue }
            if !offers.insert(offer.offerID).inserted {
                item.report("this offer is a duplicate", hint: "remove one")
            }
            if let offered = offer.terms { terms.append(offered) }
            billingPlans[offer.offerID] = offer.billingPlan
            guard let productID, !offer.price.isEmpty || offer.mode != nil || offer.periods != nil else { continue }
            let compared = OfferPrice(
                productID: productID, offerID: offer.offerID, mode: offer.mode, periods: offer.periods,
                price: offer.price, productPrice: price)
            refuseExcess(of: compared, at: item)
            prices.append(compared)
        }
        guard let productID else { return nil }
        let product = Product(
            offers: offers, terms: terms, group: group, rank: rank, isFamilySharable: isFamilySharable, prices: prices,
            price: price, billingPlans: billingPlans, place: place)
        return (productID, product)
    }

    /// Reads a subscription group ID, which consists of up to 20 digits.
    private static func readGroup(_ value: YAMLValue) -> String? {
        guard let text = value.text, (1...20).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            return value.refuse("subscriptionGroupID must consist of digits", hint: "copy it from App Store Connect")
        }
        return text
    }

    /// Refuses prices that are impossible in the offer's mode. ``CatalogueLint`` warns about other high prices.
    private static func refuseExcess(of price: OfferPrice, at value: YAMLValue) {
        for excess in price.excesses where excess.isImpossible {
            let amount = "the offer costs \(excess.amount) \(excess.currency)"
            if price.mode == .freeTrial {
                value.report("\(amount), but is a free trial", hint: "correct the price or the mode")
            } else {
                value.report(
                    "\(amount) for each period, and the product \(excess.full)",
                    hint: "an offer must be cheaper than its product; correct one of the prices, or the mode")
            }
        }
    }
}

/// Reads the members of an app that make up its ``AppRules``.
enum AppRulesReader {
    static func read(
        _ members: [String: YAMLValue], of app: RetentionReader.App, _ rules: RulesReader
    ) -> AppRules {
        let introductory = members["introductoryOffers"].flatMap { value in
            value.quotable.members("introductoryOffers", known: ["rule"])["rule"].flatMap { value in
                let rule = rules.rule(value)
                if rule?.condition.readsReports == true {
                    value.report(
                        "apps do not report introductory offers, so this cannot test reports",
                        hint: "leave out shown, dismissed and firstShown")
                }
                return rule
            }
        }
        let products = app.products
        let sorted = products.sorted { $0.value.place < $1.value.place }
        return AppRules(
            offers: sorted.flatMap(\.value.terms), introductoryOffers: introductory,
            retention: members["retention"].map { RetentionReader.read($0.quotable, of: app, rules) } ?? [],
            instead: members["instead"].map { AlternativesReader.read($0.quotable, of: app, rules) } ?? [],
            grants: members["grants"].map { GrantsReader.read($0.quotable, of: app) },
            links: members["links"].flatMap { LinksReader.read($0.quotable, of: app) },
            products: ProductTraits(
                groups: products.compactMapValues(\.group), ranks: products.compactMapValues(\.rank),
                offers: products.mapValues(\.offers)),
            prefersWinBackOffers: members["preferWinBackOffers"]?.flag() ?? false,
            countedOfferTypes: countedOfferTypes(members),
            allowsSandboxV1: members["sandboxV1"]?.flag(),
            jwsLifetime: members["jwsLifetime"]?.duration() ?? .hours(24),
            sandboxRenewalRate: members["sandboxRenewalRate"].flatMap { readRate($0, app.environments) })
    }

    private static func countedOfferTypes(_ members: [String: YAMLValue]) -> Set<OfferType> {
        let names: [(String, OfferType)] = [
            ("countRetentionOffers", .retention), ("countWinBackOffers", .winBack), ("countOfferCodes", .offerCode),
        ]
        return Set(names.filter { members[$0.0]?.flag() ?? false }.map(\.1))
    }

    private static func readRate(
        _ value: YAMLValue, _ environments: Set<AppStoreEnvironment>
    ) -> SandboxRenewalRate? {
        guard environments.contains(.sandbox) else {
            return value.refuse(
                "the app has no data in the sandbox", hint: "add Sandbox to environments, or leave it out")
        }
        return value.choice(SandboxRenewalRate.self)
    }
}
