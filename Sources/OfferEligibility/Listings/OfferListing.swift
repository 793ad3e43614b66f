package import OfferCore

/// A promotional offer in App Store Connect.
package struct OfferListing: Hashable, Sendable {
    package let offerID: OfferID
    /// The reference name, which customers do not see.
    package var name: String?
    /// nil if it is unknown.
    package var mode: OfferPrice.Mode?
    /// The length of one period of the offer.
    package var duration: ListedDuration?
    package var numberOfPeriods: Int?
    /// The billing plan that the offer is for; nil if it is unknown, as with offers from before there were plans.
    package var billingPlan: BillingPlanType?
    /// The prices by territory; nil if they are unknown. A free trial has none.
    package var prices: [String: ListedPrice]?

    package init(offerID: OfferID) { self.offerID = offerID }

    /// Returns the offer's length in periods of its product; nil if it is unknown or not a whole number.
    package func periods(of product: ProductListing) -> Int? {
        length(in: product).flatMap { Int(exactly: $0) }
    }

    /// Returns the offer's length in periods of its product, which may be a fraction; nil if it is unknown.
    package func length(in product: ProductListing) -> Double? {
        guard let duration, let numberOfPeriods, let period = product.period else { return nil }
        return duration.ratio(to: period).map { $0 * Double(numberOfPeriods) }
    }
}

/// The terms of an offer, which a customer agrees to. Each is nil if it is unknown.
package struct ListedTerms: Hashable, Sendable {
    package let mode: OfferPrice.Mode?
    package let duration: ListedDuration?
    package let numberOfPeriods: Int?
    /// The price in the customer's storefront: for each period, or for all periods if the offer is paid up front.
    package let price: ListedPrice?
    /// The storefront of ``price``, as a three-letter code.
    package let storefront: String?
    /// The name of the product that customers see.
    package let displayName: String?
}

extension AppListing {
    /// Returns the terms of an offer for a customer in a storefront; nil if nothing is known about the offer.
    /// - Parameter storefront: a three-letter code; nil if it is unknown.
    package func terms(of productID: ProductID, _ offerID: OfferID, in storefront: String?) -> ListedTerms? {
        guard let product = product(productID), let offer = product.offers.first(where: { $0.offerID == offerID })
        else { return nil }
        let price = storefront.flatMap { offer.prices?[$0] }
        return ListedTerms(
            mode: offer.mode, duration: offer.duration, numberOfPeriods: offer.numberOfPeriods,
            price: offer.mode == .freeTrial ? nil : price, storefront: price == nil ? nil : storefront,
            displayName: product.displayName)
    }
}

extension ListedTerms {
    /// The terms in words, such as `4.99 USD for each month, 3 times`; nil if the mode or the length is unknown.
    package var text: String? {
        guard let mode, let duration, let numberOfPeriods else { return nil }
        switch mode {
        case .freeTrial: return "free for \(length(duration, numberOfPeriods))"
        case .payAsYouGo:
            let times = numberOfPeriods == 1 ? "once" : "\(numberOfPeriods) times"
            return "\(price?.text ?? "a reduced price") for each \(duration.words), \(times)"
        case .payUpFront:
            return "\(price?.text ?? "a reduced price") for \(length(duration, numberOfPeriods)), paid at once"
        }
    }

    private func length(_ duration: ListedDuration, _ count: Int) -> String {
        let one = duration.words.first?.isNumber == true ? duration.words : "1 \(duration.words)"
        return count == 1 ? one : "\(count) times \(one)"
    }
}
