package import OfferCore

/// The prices of an offer and of its product, by currency.
package struct OfferPrice: Hashable, Sendable {
    /// An offer's payment mode, named as in App Store Connect.
    package enum Mode: String, CaseIterable, Hashable, Sendable {
        /// A price for each period.
        case payAsYouGo = "pay_as_you_go"
        /// One price for all periods.
        case payUpFront = "pay_up_front"
        case freeTrial = "free_trial"
    }

    package let productID: ProductID
    package let offerID: OfferID
    /// nil if it is not configured.
    package let mode: Mode?
    /// The offer's length, in periods of the product; nil if it is not configured.
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

    /// A price of an offer that is too high for a discount.
    package struct Excess: Hashable, Sendable {
        package let currency: String
        package let amount: Double
        /// The product's price for the same length of time.
        package let full: Double
        /// The number of the product's periods in that time.
        package let periods: Int
        /// True if the App Store permits no such offer. Otherwise, the prices may not be comparable.
        package let isImpossible: Bool
    }

    /// The prices that are not lower than the product's, and prices of a free trial above zero, sorted by currency.
    ///
    /// A pay-up-front price is compared with the product's price for all periods. It is skipped if the number of
    /// periods is unknown.
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

    /// Rounds before comparing. As a `Double`, 3 × 1.10 is slightly more than 3.30.
    private static func isAtLeast(_ one: Double, _ other: Double) -> Bool {
        (one * 100_000).rounded() >= (other * 100_000).rounded()
    }
}
