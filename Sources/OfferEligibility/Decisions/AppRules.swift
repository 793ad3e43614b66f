package import OfferCore

/// The rules of an app.
package struct AppRules: Hashable, Sendable {
    /// The offers with a rule, in file order.
    package let offers: [OfferTerms]
    /// The rule for introductory offers; nil if the caller decides.
    package let introductoryOffers: Rule?
    /// The cases for a customer who is about to cancel. The first case that holds is shown.
    package let retention: [RetentionCase]
    /// The cases for a customer who gets no offer. The first case that holds is shown.
    package let instead: [Alternative]
    /// nil if grants are disabled.
    package let grants: GrantPolicy?
    /// nil if the app has no links.
    package let links: LinkPolicy?
    package internal(set) var products: ProductTraits
    /// True if an offer is refused while the App Store has a win-back offer for the customer.
    package let prefersWinBackOffers: Bool
    /// The other types of offers that count as promotional offers: for `cooldown`, and as a pending offer.
    package let countedOfferTypes: Set<OfferType>
    /// True if sandbox customers get a signature that does not name its environment.
    package let allowsSandboxV1: Bool
    /// True if the configuration sets ``allowsSandboxV1``, to true or false.
    package let isSandboxV1Set: Bool
    /// The time for which an unused JWS counts as outstanding.
    package let jwsLifetime: Duration
    /// The rate at which the sandbox renews subscriptions; nil if durations count there as they are.
    package let sandboxRenewalRate: SandboxRenewalRate?

    /// The offers that App Store Connect no longer has, if such offers are refused.
    private var unavailable: Set<Key> = []

    private let places: [Key: Int]
    /// The offers by priority, then in file order.
    private let bestFirst: [RankedOffer]
    /// The distinct products of the offers.
    private let productIDs: [ProductID]

    private struct Key: Hashable {
        let productID: ProductID
        let offerID: OfferID
    }

    private struct RankedOffer: Hashable {
        let terms: OfferTerms
        /// The index of the product in ``productIDs``.
        let product: Int
    }

    package init(
        offers: [OfferTerms] = [], introductoryOffers: Rule? = nil, retention: [RetentionCase] = [],
        instead: [Alternative] = [], grants: GrantPolicy? = nil, links: LinkPolicy? = nil,
        products: ProductTraits = ProductTraits(),
        prefersWinBackOffers: Bool = false, countedOfferTypes: Set<OfferType> = [], allowsSandboxV1: Bool? = nil,
        jwsLifetime: Duration = .hours(24), sandboxRenewalRate: SandboxRenewalRate? = nil
    ) {
        self.offers = offers
        self.introductoryOffers = introductoryOffers
        self.retention = retention
        self.instead = instead
        self.grants = grants
        self.links = links
        self.products = products
        self.prefersWinBackOffers = prefersWinBackOffers
        self.countedOfferTypes = countedOfferTypes
        self.allowsSandboxV1 = allowsSandboxV1 ?? false
        isSandboxV1Set = allowsSandboxV1 != nil
        self.jwsLifetime = jwsLifetime
        self.sandboxRenewalRate = sandboxRenewalRate
        places = Dictionary(
            offers.enumerated().map { (Key(productID: $1.productID, offerID: $1.offerID), $0) },
            uniquingKeysWith: { first, _ in first })
        let ranked = offers.enumerated().sorted {
            $0.element.priority == $1.element.priority
                ? $0.offset < $1.offset : $0.element.priority > $1.element.priority
        }.map(\.element)
        var productIDs: [ProductID] = []
        bestFirst = ranked.map { terms in
            let known = productIDs.firstIndex(of: terms.productID)
            if known == nil { productIDs.append(terms.productID) }
            return RankedOffer(terms: terms, product: known ?? productIDs.count - 1)
        }
        self.productIDs = productIDs
    }

    /// - Returns: nil for an offer without a rule.
    package func terms(of productID: ProductID, _ offerID: OfferID) -> OfferTerms? {
        places[Key(productID: productID, offerID: offerID)].map { offers[$0] }
    }

    /// Refuses the offers for which `isUnavailable` returns true, whatever their rules say.
    mutating func setUnavailable(_ isUnavailable: (ProductID, OfferID) -> Bool) {
        unavailable = Set(
            offers.filter { isUnavailable($0.productID, $0.offerID) }
                .map { Key(productID: $0.productID, offerID: $0.offerID) })
    }

    func isUnavailable(_ offer: OfferTerms) -> Bool {
        !unavailable.isEmpty && unavailable.contains(Key(productID: offer.productID, offerID: offer.offerID))
    }

    /// The offers by priority, then in file order. Decisions about all offers have the same order.
    package var offersByRank: [OfferTerms] { bestFirst.map(\.terms) }

    /// Returns rules with only the offers that `isKept` accepts.
    package func keeping(_ isKept: (OfferTerms) -> Bool) -> AppRules {
        var rules = AppRules(
            offers: offers.filter(isKept), grants: grants, links: links, products: products,
            prefersWinBackOffers: prefersWinBackOffers,
            countedOfferTypes: countedOfferTypes, sandboxRenewalRate: sandboxRenewalRate)
        rules.unavailable = unavailable
        return rules
    }

    /// The conditions of all rules.
    package var conditions: [Condition] {
        let others = retention.compactMap(\.rule) + instead.compactMap(\.rule) + [introductoryOffers].compactMap(\.self)
        return (offers.map(\.rule) + others).map(\.condition)
    }

    /// Returns the samples of the campaigns whose personal links give an offer.
    package func mailings(of offer: OfferTerms) -> [String] {
        links?.campaigns.filter { $0.offer == Campaign.Offer(productID: offer.productID, offerID: offer.offerID) }
            .map(\.sample) ?? []
    }

    /// The sizes of each sample, by its name. A sample must have one size, because a customer keeps the place in it.
    package var sampleSizes: [String: Set<Double>] {
        let rules = offers.map(\.rule) + retention.compactMap(\.rule) + [introductoryOffers].compactMap(\.self)
        return rules.flatMap(\.shares).reduce(into: [:]) { $0[$1.sample, default: []].insert($1.share) }
    }

    /// True if there are no rules.
    package var isEmpty: Bool { offers.isEmpty && introductoryOffers == nil && retention.isEmpty && instead.isEmpty }

    /// Decides on all offers of some products.
    /// - Parameter productIDs: nil for all products.
    /// - Returns: the decisions, in the order of ``offersByRank``. Granted offers come first.
    package func decide(
        _ facts: CustomerFacts, about productIDs: Set<ProductID>? = nil, at now: Timestamp
    ) -> [OfferDecision] {
        let isWanted = productIDs.map { wanted in self.productIDs.map(wanted.contains) }
        // Offers of one product share a context.
        var contexts = [EvaluationContext?](repeating: nil, count: self.productIDs.count)
        var decisions: [OfferDecision] = []
        decisions.reserveCapacity(bestFirst.count)
        for offer in bestFirst where isWanted?[offer.product] ?? true {
            let context =
                contexts[offer.product] ?? context(facts, offering: offer.terms.productID, at: now)
            contexts[offer.product] = context
            decisions.append(offer.terms.decide(in: context, under: self))
        }
        guard !facts.grants.isEmpty else { return decisions }
        return decisions.filter { $0.offer.grant != nil } + decisions.filter { $0.offer.grant == nil }
    }

    package func decide(_ facts: CustomerFacts, about offer: OfferTerms, at now: Timestamp) -> OfferDecision {
        offer.decide(in: context(facts, offering: offer.productID, at: now), under: self)
    }

    /// Returns the grant under which an offer is decided.
    /// - Returns: nil if the offer's rule applies. Without ``grants`` and ``links``, it applies to everybody.
    func grant(
        of productID: ProductID, _ offerID: OfferID, to facts: CustomerFacts, at now: Timestamp
    ) -> OfferGrant? {
        guard grants != nil || links != nil else { return nil }
        return facts.grant(of: productID, offerID, at: now) { grant in
            guard let name = grant.campaign else { return grants != nil }
            let campaign = links?.campaign(name)
            return campaign?.offer == Campaign.Offer(productID: productID, offerID: offerID)
                && campaign?.hasEnded(at: now) == false
        }
    }

    func context(_ facts: CustomerFacts, offering productID: ProductID, at now: Timestamp) -> EvaluationContext {
        EvaluationContext(
            facts, offering: productID, products: products, sandboxSpeed: sandboxRenewalRate?.speed ?? 1, at: now)
    }

    /// Returns the customer's exposure to an introductory offer: false if the customer is held out, and the places in the
    /// samples of the rule.
    /// - Returns: nil if the rule refuses the offer for other reasons.
    package func introductoryExposure(
        _ facts: CustomerFacts, of productID: ProductID, by rule: Rule, at now: Timestamp
    ) -> (isOffered: Bool, places: [SamplePlace])? {
        let context = context(facts, offering: productID, at: now)
        let truth = rule.condition.truth(in: context)
        guard truth == .yes || rule.isHeldOut(truth, in: context) else { return nil }
        return (truth == .yes, rule.places(in: context))
    }

    /// Decides whether a customer may get an introductory offer for a product.
    /// - Returns: the reasons to refuse it; empty if it is allowed.
    package func introductoryReasons(
        _ facts: CustomerFacts, of productID: ProductID, by rule: Rule, at now: Timestamp
    ) -> [DecisionReason] {
        let context = context(facts, offering: productID, at: now)
        let truth = rule.condition.truth(in: context)
        guard truth != .yes else { return [] }
        let reasons = rule.condition.reasons(truth, in: context)
        return reasons.isEmpty ? [DecisionReason(.unknown)] : reasons
    }
}
