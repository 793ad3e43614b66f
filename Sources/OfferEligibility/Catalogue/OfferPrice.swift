package import OfferCore

/// The prices of an offer and of its product, by currency.
package struct OfferPrice: Hashable, Sendable {
    /// The payment mode of an offer, as App Store Connect calls it.
    package enum Mode: String, CaseIterable, Hashable, Sendable {
        /// A price for each period.
        case payAsYouGo = "pay_as_you_go"
        /// One price for all periods together.
        case payUpFront = "pay_up_front"
        case freeTrial = "free_trial"
    }

    package let productID: ProductID
    package let offerID: OfferID
    /// nil if the configuration does not name it.
    package let mode: Mode?
    /// The number of periods of the product that the offer lasts; nil if the configuration does not name it.
    package let periods: Int?
    package let price: [String: Double]
    /// The price of one period of the product, by currency.
    package let productPrice: [String: Double]

    package init(
        productID: ProductID, offerID: OfferID, mode: Mode? = nil, periods: Int? = nil, price: [String: Double],
        productPrice: [String: Double]
    ) {
        self.productID = productID
        self.offerID = offerID
        self.mode = mode
        self.periods = periods
        self.price = price
        self.productPrice = productPrice
    }

    /// An offer's price that is not lower than the product's.
    package struct Excess: Hashable, Sendable {
        package let currency: String
        package let amount: Double
        /// The product's price for the same time.
        package let full: Double
        /// The number of periods in that time.
        package let periods: Int
        /// True if the App Store permits no such offer. If false, the prices may not be comparable.
        package let isImpossible: Bool
    }

    /// The prices that are not lower than the product's, sorted by currency.
    ///
    /// A single price for several periods is compared with the sum of the product's prices, if the number of periods is
    /// known.
    package var excesses: [Excess] {
        price.sorted { $0.key < $1.key }.compactMap { currency, amount in
            guard mode != .freeTrial else {
                return amount > 0
                    ? Excess(currency: currency, amount: amount, full: 0, periods: periods ?? 1, isImpossible: true)
                    : nil
            }
            guard let single = productPrice[currency], mode != .payUpFront || periods != nil else { return nil }
            let count = mode == .payUpFront ? periods ?? 1 : 1
            let full = single * Double(count)
            guard Self.isAtLeast(amount, full) else { return nil }
            return Excess(
                currency: currency, amount: amount, full: full, periods: count, isImpossible: mode == .payAsYouGo)
        }
    }

    /// Compares in units far smaller than those of any currency: 3 × 9.99 is a little more than 29.97.
    private static func isAtLeast(_ one: Double, _ other: Double) -> Bool {
        (one * 100_000).rounded() >= (other * 100_000).rounded()
    }
}
