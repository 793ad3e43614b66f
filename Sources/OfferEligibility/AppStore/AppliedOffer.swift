import OfferCore

/// An offer that applies to a transaction or to the next renewal of a subscription.
package struct AppliedOffer: Hashable, Sendable {
    package let type: OfferType
    /// The identifier of the offer, or the name of the offer code. An introductory offer has none.
    package var identifier: String?
    package var discountType: OfferDiscountType?
    /// An ISO 8601 duration, such as `P1M`.
    package var period: String?

    package init(
        type: OfferType, identifier: String? = nil, discountType: OfferDiscountType? = nil, period: String? = nil
    ) {
        self.type = type
        self.identifier = identifier
        self.discountType = discountType
        self.period = period
    }
}

package struct OfferType: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let introductory = Self(rawValue: 1)
    package static let promotional = Self(rawValue: 2)
    package static let offerCode = Self(rawValue: 3)
    package static let winBack = Self(rawValue: 4)
    /// Set up in App Store Connect as a retention message.
    package static let retention = Self(rawValue: 5)
}

package struct OfferDiscountType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let freeTrial = Self(rawValue: "FREE_TRIAL")
    package static let payAsYouGo = Self(rawValue: "PAY_AS_YOU_GO")
    package static let payUpFront = Self(rawValue: "PAY_UP_FRONT")
    /// An offer code for a product that is not a subscription.
    package static let oneTime = Self(rawValue: "ONE_TIME")
}
