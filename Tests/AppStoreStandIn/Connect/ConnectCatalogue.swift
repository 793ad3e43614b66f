/// What the stand-in of App Store Connect has: apps with their subscriptions. Tests change it as a person would.
package struct ConnectCatalogue: Sendable {
    package struct Price: Sendable {
        package var territory: String
        package var amount: String
        package var startDate: String?
        package var isPreserved = false
        /// `UPFRONT` or `MONTHLY`; nil for none.
        package var plan: String? = "UPFRONT"

        package init(_ territory: String, _ amount: String) {
            self.territory = territory
            self.amount = amount
        }
    }

    package struct Offer: Sendable {
        package var code: String
        package var mode: String
        package var duration: String
        package var periods: Int
        package var plan: String? = "UPFRONT"
        package var prices: [Price]

        package init(_ code: String, _ mode: String, _ duration: String, _ periods: Int, prices: [Price] = []) {
            self.code = code
            self.mode = mode
            self.duration = duration
            self.periods = periods
            self.prices = prices
        }
    }

    package struct Product: Sendable {
        package var productID: String
        package var state = "APPROVED"
        package var period: String
        package var level: Int
        package var isFamilySharable = false
        package var names: [String: String]
        package var prices: [Price]
        package var offers: [Offer]
        package var winBackOffers: [String] = []
        package var introductoryOffers = 0
        /// The billing plans with which it is sold.
        package var plans = ["UPFRONT"]

        package init(
            _ productID: String, period: String, level: Int, name: String, prices: [Price], offers: [Offer] = []
        ) {
            self.productID = productID
            self.period = period
            self.level = level
            names = ["en-US": name]
            self.prices = prices
            self.offers = offers
        }
    }

    package struct Group: Sendable {
        package var id: String
        package var name: String
        package var products: [Product]

        package init(_ id: String, _ name: String, products: [Product]) {
            self.id = id
            self.name = name
            self.products = products
        }
    }

    package var appAppleID = "1234567890"
    package var bundleID = "com.example.app"
    package var notificationURL: String? = "https://offers.example.com/v1/app-store-notifications"
    package var notificationVersion = "V2"
    package var groups: [Group]

    package init(groups: [Group]) { self.groups = groups }

    package subscript(product: String) -> Product? {
        get { groups.lazy.flatMap(\.products).first { $0.productID == product } }
        set {
            for group in groups.indices {
                for place in groups[group].products.indices where groups[group].products[place].productID == product {
                    if let newValue {
                        groups[group].products[place] = newValue
                    } else {
                        groups[group].products.remove(at: place)
                    }
                    return
                }
            }
        }
    }

    /// A catalogue of two groups, in three territories, that agrees with ``configuration``.
    package static var example: ConnectCatalogue {
        func prices(_ dollars: String, _ euros: String) -> [Price] {
            [Price("USA", dollars), Price("DEU", euros), Price("FRA", euros)]
        }
        var monthly = Product(
            "com.example.app.pro.monthly", period: "ONE_MONTH", level: 1, name: "Pro", prices: prices("9.99", "10.99"),
            offers: [
                Offer("winback_1m", "PAY_AS_YOU_GO", "ONE_MONTH", 3, prices: prices("4.99", "5.49")),
                Offer("retention_free", "FREE_TRIAL", "ONE_MONTH", 1),
                Offer("up_front_3m", "PAY_UP_FRONT", "THREE_MONTHS", 1, prices: prices("19.99", "21.99")),
            ])
        monthly.names["de-DE"] = "Pro (Monat)"
        monthly.winBackOffers = ["winback_asc"]
        monthly.introductoryOffers = 3
        var yearly = Product(
            "com.example.app.pro.yearly", period: "ONE_YEAR", level: 1, name: "Pro, one year",
            prices: prices("99.99", "109.99"),
            offers: [Offer("yearly_20off", "PAY_UP_FRONT", "ONE_YEAR", 1, prices: prices("79.99", "87.99"))])
        yearly.prices += prices("10.99", "11.99").map { price in
            var price = price
            price.plan = "MONTHLY"
            return price
        }
        yearly.plans.append("MONTHLY")
        let basic = Product(
            "com.example.app.basic.monthly", period: "ONE_MONTH", level: 2, name: "Basic",
            prices: prices("4.99", "5.49"),
            offers: [Offer("basic_1m", "PAY_AS_YOU_GO", "ONE_MONTH", 1, prices: prices("2.49", "2.79"))])
        let news = Product(
            "com.example.app.news.monthly", period: "ONE_MONTH", level: 1, name: "News", prices: prices("1.99", "2.49"))
        return ConnectCatalogue(groups: [
            Group("21012345", "Plans", products: [monthly, yearly, basic]), Group("21067890", "News", products: [news]),
        ])
    }
}
