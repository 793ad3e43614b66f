package import OfferCore

/// An offer with its rule and its limits.
///
/// It is a class, because every decision refers to its offer, and copying all members would cost as much as deciding.
package final class OfferTerms: Sendable {
    package let productID: ProductID
    package let offerID: OfferID
    package let rule: Rule
    /// The priority. An offer with a higher priority comes first.
    package let priority: Int
    package let limits: OfferLimits
    /// True if another server also signs this offer, so a redemption without an authorisation raises no alarm.
    package let isSignedElsewhere: Bool
    /// The grant that replaces the rule; nil if the rule applies.
    package let grant: UUIDText?
    /// The campaign whose link gave the grant; nil for any other grant, and without one.
    package let campaign: String?

    package init(
        productID: ProductID, offerID: OfferID, rule: Rule, priority: Int = 0, limits: OfferLimits = OfferLimits(),
        isSignedElsewhere: Bool = false, grant: OfferGrant? = nil
    ) {
        self.productID = productID
        self.offerID = offerID
        self.rule = Rule(name: rule.name, condition: rule.condition.about(offerID))
        self.priority = priority
        self.limits = limits
        self.isSignedElsewhere = isSignedElsewhere
        self.grant = grant?.id
        campaign = grant?.campaign
    }

    private init(_ other: OfferTerms, limits: OfferLimits) {
        (productID, offerID, rule, priority) = (other.productID, other.offerID, other.rule, other.priority)
        (isSignedElsewhere, grant, campaign) = (other.isSignedElsewhere, other.grant, other.campaign)
        self.limits = limits
    }

    /// Returns the same offer under a grant.
    func granted(by grant: OfferGrant) -> OfferTerms {
        OfferTerms(
            productID: productID, offerID: offerID, rule: Rule(name: OfferGrant.ruleName, condition: .all([])),
            priority: priority, limits: limits.granted(by: grant), isSignedElsewhere: isSignedElsewhere,
            grant: grant)
    }
}

extension OfferTerms {
    /// Returns the same offer with limits whose durations pass that many times faster.
    func counted(at speed: Int) -> OfferTerms {
        guard speed > 1, limits.perCustomer?.every != nil || limits.cooldown != nil else { return self }
        return OfferTerms(self, limits: limits.counted(at: speed))
    }
}

extension OfferTerms: Hashable {
    package static func == (one: OfferTerms, other: OfferTerms) -> Bool {
        one === other
            || one.productID == other.productID && one.offerID == other.offerID && one.rule == other.rule
                && one.priority == other.priority && one.limits == other.limits
                && one.isSignedElsewhere == other.isSignedElsewhere && one.grant == other.grant
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(productID)
        hasher.combine(offerID)
    }
}

/// The limits on an offer's redemptions and on the signatures that a customer may hold.
package struct OfferLimits: Hashable, Sendable {
    package struct PerCustomer: Hashable, Sendable {
        package let count: Int
        /// The window in which redemptions count; nil for all time.
        package let every: Duration?

        package init(count: Int, every: Duration? = nil) {
            self.count = count
            self.every = every
        }
    }

    package private(set) var perCustomer: PerCustomer?
    /// The minimum time after any redemption of a promotional offer by the customer in the app.
    package private(set) var cooldown: Duration?
    /// The maximum number of redemptions by all customers together.
    package private(set) var total: Int?
    /// The maximum number of unredeemed signatures that a customer may hold at a time.
    package let outstanding: Int
    /// True for a grant, which allows one redemption.
    package let isForOneUse: Bool

    /// - Parameter outstanding: nil means 3, or 1 if `perCustomer` or `total` is set, because a signature cannot be
    ///   revoked.
    package init(
        perCustomer: PerCustomer? = nil, cooldown: Duration? = nil, total: Int? = nil, outstanding: Int? = nil
    ) {
        self.perCustomer = perCustomer
        self.cooldown = cooldown
        self.total = total
        self.outstanding = outstanding ?? (perCustomer == nil && total == nil ? 3 : 1)
        isForOneUse = false
    }

    /// The same limits without ``total``.
    package var withoutTotal: OfferLimits {
        var limits = self
        limits.total = nil
        return limits
    }

    private init(_ limits: OfferLimits, liftingThoseOfCustomer isLifted: Bool) {
        perCustomer = isLifted ? nil : limits.perCustomer
        cooldown = isLifted ? nil : limits.cooldown
        total = limits.total
        outstanding = 1
        isForOneUse = true
    }

    /// Returns limits whose durations pass that many times faster.
    fileprivate func counted(at speed: Int) -> OfferLimits {
        var limits = self
        limits.perCustomer = perCustomer.map { PerCustomer(count: $0.count, every: $0.every.map { $0 / speed }) }
        limits.cooldown = cooldown.map { $0 / speed }
        return limits
    }

    /// Returns the limits under a grant: one use and, if the grant says so, neither `perCustomer` nor `cooldown`.
    fileprivate func granted(by grant: OfferGrant) -> OfferLimits {
        OfferLimits(self, liftingThoseOfCustomer: grant.liftsLimits)
    }

    /// True if the number of redemptions is limited. Each signature form in an answer then counts separately.
    package var isCapped: Bool { perCustomer != nil || total != nil || isForOneUse }
}
