import Foundation

/// A promotional offer that the customer may have. It is not signed yet, so it costs nothing to list and draw it.
public struct Offer: Hashable, Sendable, Identifiable {
    public let productID: String
    /// The identifier of the promotional offer in App Store Connect.
    public let offerID: String
    /// The plan with which the app must buy; nil if the service names none before it signs.
    public let billingPlan: BillingPlan?
    /// The place in the app for which the offer was listed. A rule can test it again when the offer is signed.
    let placement: String?
    /// The link that the customer opened, if it counted.
    var link: URL?
    /// The sign-in during which the offer was fetched. The client refuses it during any other.
    let session: UUID

    /// The product and the offer. Neither can contain a line break.
    public var id: String { productID + "\n" + offerID }
}

/// The billing plan of a subscription, spelled as in App Store data.
public struct BillingPlan: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A twelve-month commitment that is billed monthly.
    public static let monthly = BillingPlan(rawValue: "MONTHLY")
    public static let billedUpFront = BillingPlan(rawValue: "BILLED_UPFRONT")
}

/// The offers of a customer at one time, the best first.
public struct OfferList: Hashable, Sendable {
    public let offers: [Offer]
    public let refused: [RefusedOffer]
    /// The App Store environment of the customer's purchases, such as `Production`.
    public let environment: String
    /// The result of the link; nil if the app passed none.
    public let link: LinkOutcome?
    /// nil if nothing certain is known about the customer.
    public let state: CustomerState?
    /// The content to show if ``offers`` is empty; nil for nothing.
    public let alternative: Alternative?
    /// The customer's eligibility for the introductory offers of each subscription group; empty if the app has no rule for
    /// them.
    public let introductoryOffers: [String: IntroductoryEligibility]
}

/// A customer's eligibility for an introductory offer.
public struct IntroductoryEligibility: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let yes = IntroductoryEligibility(rawValue: "yes")
    public static let no = IntroductoryEligibility(rawValue: "no")
    /// Ask StoreKit, with `isEligibleForIntroOffer`.
    public static let unknown = IntroductoryEligibility(rawValue: "unknown")
}

/// A summary of a customer's subscriptions.
public struct CustomerState: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let active = CustomerState(rawValue: "active")
    /// A payment failed, and the customer can fix it.
    public static let paymentFailed = CustomerState(rawValue: "payment_failed")
    public static let ended = CustomerState(rawValue: "ended")
}

/// The content for a customer who gets no offer, as configured under `instead`.
public struct Alternative: Hashable, Sendable {
    /// The kind of content. Ignore a kind that the app does not know: later versions add some.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The app's own message, by ``Alternative/key`` and ``Alternative/text``.
        public static let message = Kind(rawValue: "message")
        /// The product ``Alternative/productID``, at its own price.
        public static let product = Kind(rawValue: "product")
        /// The customer's subscriptions: `manageSubscriptionsSheet(isPresented:)`.
        public static let manageSubscriptions = Kind(rawValue: "manage_subscriptions")
        /// The customer's payment: https://apps.apple.com/account/billing.
        public static let updatePayment = Kind(rawValue: "update_payment")
    }

    public let kind: Kind
    /// The name of a message.
    public let key: String?
    /// The words of a message; nil if the app has them.
    public let text: String?
    public let productID: String?
}

/// The result of a campaign link.
public struct LinkOutcome: Hashable, Sendable {
    /// nil if it is unknown.
    public let campaign: String?
    /// True if the link counts for the customer. The offer of a personal link is then in the list, unless a limit or what holds
    /// for every offer refuses it, or the customer has redeemed it.
    public let counts: Bool
    /// The reason for which it does not count.
    public let reason: LinkRefusal?
}

/// A reason for which a link does not count for the customer.
public struct LinkRefusal: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It is no link of this app, or its campaign was removed.
    public static let unknown = LinkRefusal(rawValue: "unknown_link")
    /// It or its campaign has ended.
    public static let expired = LinkRefusal(rawValue: "link_expired")
    /// It was made for another customer. Tell the user that the offer is for the account that received the mail.
    public static let anotherCustomers = LinkRefusal(rawValue: "another_customers_link")
}

/// An offer that the customer may not have now.
public struct RefusedOffer: Hashable, Sendable {
    public let productID: String
    public let offerID: String
    public let reasons: [RefusalReason]
}

/// A reason why a customer may not have an offer. docs/decisions.md explains each code.
public struct RefusalReason: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A fact is missing. Proofs from the device often supply it.
    public static let unknown = RefusalReason(rawValue: "unknown")
    public static let neverSubscribed = RefusalReason(rawValue: "never_subscribed")
    public static let customerCap = RefusalReason(rawValue: "customer_cap")
    public static let cooldown = RefusalReason(rawValue: "cooldown")
    /// The customer holds unused signatures. Each is released about a day after it was made.
    public static let outstanding = RefusalReason(rawValue: "outstanding")
    public static let totalCap = RefusalReason(rawValue: "total_cap")
}
