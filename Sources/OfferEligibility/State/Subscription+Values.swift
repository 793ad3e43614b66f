package import OfferCore

extension Subscription {
    /// The raw values are wire values.
    package enum Status: String, CaseIterable, Hashable, Sendable {
        case active
        case billingGracePeriod = "billing_grace_period"
        case billingRetry = "billing_retry"
        case expired
        case revoked
    }

    /// The reason why access ended.
    package enum EndReason: String, CaseIterable, Hashable, Sendable {
        case cancelled
        case billing
        case priceIncrease = "price_increase"
        case productUnavailable = "product_unavailable"
        case refunded
        /// Any other reason, or no reason given by the App Store.
        case other
    }

    /// The way the customer obtained a period.
    package enum PeriodKind: String, CaseIterable, Hashable, Sendable {
        /// An introductory offer that is free.
        case trial
        /// An introductory offer that is not free.
        case introductory
        case promotional
        case offerCode = "offer_code"
        case winBack = "win_back"
        /// An offer of a retention message that was set up in App Store Connect.
        case retention
        /// An offer of an unknown type.
        case otherOffer = "other_offer"
        case regular
    }

    /// A switch of auto-renew. During a commitment, it is the choice for the end of the commitment.
    package struct AutoRenewChange: Hashable, Sendable {
        package let at: Timestamp
        /// nil if it was switched on and off at the same time, in an unknown order, or the App Store does not state it.
        package let isOn: Bool?
        /// False if the App Store's notification may concern only the next bill of a commitment.
        package let isCertain: Bool

        package init(at: Timestamp, isOn: Bool?, isCertain: Bool = true) {
            self.at = at
            self.isOn = isOn
            self.isCertain = isCertain
        }
    }

    package enum PriceIncrease: String, CaseIterable, Hashable, Sendable {
        case pending
        /// The customer consented, or was notified of an increase that needs no consent.
        case accepted
    }

    package enum Ownership: String, CaseIterable, Hashable, Sendable {
        case purchased
        case familyShared = "family_shared"
        /// A seat in a group or an organisation.
        case assigned
        /// An unknown ownership.
        case other
    }
}

extension Subscription.EndReason {
    init(_ intent: ExpirationIntent) {
        switch intent {
        case .cancelled: self = .cancelled
        case .billingError: self = .billing
        case .priceIncreaseDeclined: self = .priceIncrease
        case .productUnavailable: self = .productUnavailable
        default: self = .other
        }
    }

    init(_ reason: ExpiryReason) {
        switch reason {
        case .voluntary: self = .cancelled
        case .billingRetry: self = .billing
        case .priceIncrease: self = .priceIncrease
        case .productNotForSale: self = .productUnavailable
        default: self = .other
        }
    }
}

extension Subscription.PeriodKind {
    package init(_ offer: AppliedOffer?) {
        switch offer?.type {
        case nil: self = .regular
        case .introductory: self = offer?.discountType == .freeTrial ? .trial : .introductory
        case .promotional: self = .promotional
        case .offerCode: self = .offerCode
        case .winBack: self = .winBack
        case .retention: self = .retention
        default: self = .otherOffer
        }
    }
}

extension Subscription.PriceIncrease {
    init?(_ status: PriceIncreaseStatus) {
        switch status {
        case .unanswered: self = .pending
        case .accepted: self = .accepted
        default: return nil
        }
    }
}

extension Subscription.Ownership {
    init(_ type: OwnershipType) {
        switch type {
        case .purchased: self = .purchased
        case .familyShared: self = .familyShared
        case .assigned: self = .assigned
        default: self = .other
        }
    }
}
