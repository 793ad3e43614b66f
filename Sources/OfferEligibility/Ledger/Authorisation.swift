package import OfferCore

/// A signature that was handed out for a decision. Until it is redeemed or expires, the customer may use it.
package struct Authorisation: Hashable, Sendable {
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// Reserved, and handed out unless the service ended in between.
        case outstanding
        /// The App Store has shown the redemption.
        case redeemed
        /// Signing failed, so nothing was handed out.
        case withdrawn
    }

    package let productID: ProductID
    package let offerID: OfferID
    package let state: State
    package let at: Timestamp
    /// From then on, an unused signature holds nothing. Where the App Store is asked, that is ``askingTime`` after it became
    /// worthless.
    package let expiresAt: Timestamp
    /// From then on, the signature is worthless.
    package let validUntil: Timestamp

    /// How long a slot is held after its signature became worthless, so that the App Store can be asked whether it was used. The
    /// poller asks 75 minutes after the end.
    package static let askingTime = Duration.hours(2)

    /// - Parameter validUntil: nil if that is when it holds nothing any longer.
    package init(
        productID: ProductID, offerID: OfferID, state: State, at: Timestamp, expiresAt: Timestamp,
        validUntil: Timestamp? = nil
    ) {
        self.productID = productID
        self.offerID = offerID
        self.state = state
        self.at = at
        self.expiresAt = expiresAt
        self.validUntil = validUntil ?? expiresAt
    }

    /// True if a customer can have redeemed the signature at a time of Apple's clock.
    package func wasValid(at time: Timestamp) -> Bool {
        at <= time + Self.clockTolerance && time <= validUntil + Self.clockTolerance
    }

    /// The tolerance between Apple's clock and ours.
    private static let clockTolerance = Duration.seconds(300)

    package func isOutstanding(at now: Timestamp) -> Bool { state == .outstanding && now < expiresAt }
}
