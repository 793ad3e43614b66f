package import OfferCore

/// A signature reserved for a customer. The customer can use it until it is redeemed or expires.
package struct Authorisation: Hashable, Sendable {
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// The signature is reserved. It was also issued, unless the service stopped in between.
        case outstanding
        /// The App Store has reported the redemption.
        case redeemed
        /// Signing failed, so nothing was issued.
        case withdrawn
    }

    package let productID: ProductID
    package let offerID: OfferID
    package let state: State
    package let at: Timestamp
    /// The time at which an unused signature releases its slot. If the App Store is queried, this is ``syncTime`` after
    /// ``validUntil``.
    package let expiresAt: Timestamp
    /// The time at which the signature becomes unusable.
    package let validUntil: Timestamp
    /// nil if it was not recorded.
    package let source: OfferSource?

    /// The time for which a slot is held after its signature becomes unusable. Within it, the App Store can report the
    /// redemption: the poller queries after 75 minutes.
    package static let syncTime = Duration.hours(2)

    /// - Parameter validUntil: nil if it equals `expiresAt`.
    package init(
        productID: ProductID, offerID: OfferID, state: State, at: Timestamp, expiresAt: Timestamp,
        validUntil: Timestamp? = nil, source: OfferSource? = nil
    ) {
        self.productID = productID
        self.offerID = offerID
        self.state = state
        self.at = at
        self.expiresAt = expiresAt
        self.validUntil = validUntil ?? expiresAt
        self.source = source
    }

    /// Returns true if a customer could redeem the signature at a time according to Apple's clock.
    package func wasValid(at time: Timestamp) -> Bool {
        at <= time + .clockTolerance && time <= validUntil + .clockTolerance
    }

    package func isOutstanding(at now: Timestamp) -> Bool { state == .outstanding && now < expiresAt }
}
