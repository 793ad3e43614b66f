package import OfferCore

/// A comparison of the decisions of current and new rules about stored customers.
///
/// It ignores limits, because the ledger does not contain the signatures that the new rules would have allowed.
package struct RulesDryRun: Sendable {
    /// An offer of an app in one environment.
    package struct Offer: Hashable, Sendable {
        package let app: AppScope
        package let productID: ProductID
        package let offerID: OfferID
    }

    /// The results of one offer.
    package struct Outcome: Sendable {
        /// The name of the current rule; nil for an inline condition, or without a rule.
        package fileprivate(set) var ruleInForce: String?
        package fileprivate(set) var newRule: String?
        /// The number of customers for each refusal reason; the key nil counts eligible customers.
        package fileprivate(set) var inForce: [ReasonCode?: Int] = [:]
        package fileprivate(set) var new: [ReasonCode?: Int] = [:]
        package fileprivate(set) var gained = Change()
        package fileprivate(set) var lost = Change()
    }

    /// The customers for whom the decision changes.
    package struct Change: Sendable {
        package fileprivate(set) var count = 0
        /// The first few customers, identified by account or, without one, by subscription.
        package fileprivate(set) var sample: [CustomerIdentifier] = []
    }

    /// The number of customers, each counted once.
    package private(set) var customers = 0
    private var comparisons: [AppScope: RulesComparison] = [:]
    private let inForce: Catalogue
    private let new: Catalogue
    private let sampleSize: Int

    /// - Parameter sampleSize: the number of customers named for each change.
    package init(inForce: Catalogue, new: Catalogue, sampleSize: Int) {
        self.inForce = inForce
        self.new = new
        self.sampleSize = sampleSize
    }

    package var outcomes: [Offer: Outcome] {
        Dictionary(
            comparisons.flatMap { app, comparison in
                zip(comparison.offers, comparison.outcomes).map { terms, outcome in
                    (Offer(app: app, productID: terms.productID, offerID: terms.offerID), outcome)
                }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Decides on the customer of a subscription, unless an earlier subscription represents the same customer.
    package mutating func add(_ numbered: NumberedCustomer, at now: Timestamp) {
        let app = numbered.customer.app
        let (inForce, new) = (inForce.apps[app.bundleID], new.apps[app.bundleID])
        let owned = numbered.owned(by: inForce?.ownership)
        let newlyOwned = new?.ownership == inForce?.ownership ? owned : numbered.owned(by: new?.ownership)
        guard numbered.represents([owned, newlyOwned].compactMap(\.self)) else { return }
        customers += 1
        // Mutates the value in the dictionary, because a copy would duplicate all counts.
        comparisons[app, default: RulesComparison(inForce: inForce, new: new)]
            .add(owned, newlyOwned, numbered.identifier, at: now, sampleSize)
    }

    /// Adds the results for other customers.
    package mutating func merge(_ other: RulesDryRun) {
        customers += other.customers
        comparisons.merge(other.comparisons) { $0.merging($1, sampleSize) }
    }
}

/// The decisions of the current and the new rules about an app's offers.
private struct RulesComparison {
    /// nil if the app is not in the current configuration.
    private let inForce: Catalogue.App?
    /// nil if the app is not in the new configuration.
    private let new: Catalogue.App?
    /// The current offers in decision order, followed by those that are only in the new rules.
    let offers: [OfferTerms]
    /// The outcomes, one for each of ``offers``.
    private(set) var outcomes: [RulesDryRun.Outcome]
    /// For each current offer, true if the new rules decide the same. The current decision is then used for both.
    private let isKept: [Bool]
    /// The new rules, without the kept offers.
    private let changes: AppRules
    /// The index in ``offers`` of each offer in ``changes``, in decision order.
    private let placesOfChanges: [Int]

    init(inForce: Catalogue.App?, new: Catalogue.App?) {
        self.inForce = inForce
        self.new = new
        let (before, after) = (inForce?.rules ?? AppRules(), new?.rules ?? AppRules())
        let agrees = inForce.flatMap { one in new.map { one.decidesAlike($0) } } ?? false
        func keeps(_ other: AppRules, _ terms: OfferTerms) -> Bool {
            agrees && other.terms(of: terms.productID, terms.offerID) == terms
        }
        var offers = before.offersByRank
        isKept = offers.map { keeps(after, $0) }
        changes = after.keeping { !keeps(before, $0) }
        placesOfChanges = changes.offersByRank.map { terms in
            let known = offers.firstIndex { $0.productID == terms.productID && $0.offerID == terms.offerID }
            if known == nil { offers.append(terms) }
            return known ?? offers.count - 1
        }
        self.offers = offers
        outcomes = offers.map { _ in RulesDryRun.Outcome() }
    }

    /// - Parameters:
    ///   - owned: the customer by the current ownership policy; nil if that gives the customer no purchases.
    ///   - newlyOwned: the customer by the new ownership policy.
    mutating func add(
        _ owned: OwnedCustomer?, _ newlyOwned: OwnedCustomer?, _ identifier: CustomerIdentifier, at now: Timestamp,
        _ sampleSize: Int
    ) {
        let factsInForce = owned.flatMap { owned in inForce.map { CustomerFacts(owned, in: $0, at: now) } }
        // Usually only the rules change, and the facts stay the same.
        let newFacts =
            inForce.map(ReadingOfFacts.init) == new.map(ReadingOfFacts.init)
            ? factsInForce : newlyOwned.flatMap { owned in new.map { CustomerFacts(owned, in: $0, at: now) } }
        let before = factsInForce.flatMap { facts in inForce?.rules.decide(facts, at: now) } ?? []
        var after = [OfferDecision?](repeating: nil, count: outcomes.count)
        for place in before.indices where isKept[place] { after[place] = before[place] }
        for (place, decision) in zip(placesOfChanges, newFacts.map { changes.decide($0, at: now) } ?? []) {
            after[place] = decision
        }
        for place in outcomes.indices {
            let before = place < before.count ? before[place] : nil
            outcomes[place].count(before, after[place], for: identifier, sampleSize)
        }
    }

    func merging(_ other: RulesComparison, _ sampleSize: Int) -> RulesComparison {
        var whole = self
        for place in outcomes.indices { whole.outcomes[place].merge(other.outcomes[place], sampleSize) }
        return whole
    }
}

extension Catalogue.App {
    /// Returns true if every rule has the same meaning in both configurations of the app.
    fileprivate func decidesAlike(_ other: Catalogue.App) -> Bool {
        ReadingOfFacts(self) == ReadingOfFacts(other) && rules.products == other.rules.products
            && rules.prefersWinBackOffers == other.rules.prefersWinBackOffers
            && rules.countedOfferTypes == other.rules.countedOfferTypes
    }
}

extension RulesDryRun.Outcome {
    /// - Parameters:
    ///   - before: the decision by the current rules; nil if they lack the offer.
    ///   - after: the decision by the new rules; nil if they lack the offer.
    fileprivate mutating func count(
        _ before: OfferDecision?, _ after: OfferDecision?, for customer: CustomerIdentifier, _ sampleSize: Int
    ) {
        if let before {
            ruleInForce = before.offer.rule.name
            inForce.count(before)
        }
        if let after {
            newRule = after.offer.rule.name
            new.count(after)
        }
        let (had, has) = (before?.isEligible == true, after?.isEligible == true)
        if has, !had { gained.add(customer, sampleSize) }
        if had, !has { lost.add(customer, sampleSize) }
    }

    fileprivate mutating func merge(_ other: Self, _ sampleSize: Int) {
        ruleInForce = ruleInForce ?? other.ruleInForce
        newRule = newRule ?? other.newRule
        inForce.merge(other.inForce, uniquingKeysWith: +)
        new.merge(other.new, uniquingKeysWith: +)
        gained.merge(other.gained, sampleSize)
        lost.merge(other.lost, sampleSize)
    }
}

extension [ReasonCode?: Int] {
    /// Counts each refusal reason, or the eligible customer.
    fileprivate mutating func count(_ decision: OfferDecision) {
        let codes = decision.codes
        if codes.isEmpty { self[nil, default: 0] += 1 }
        for code in codes { self[code, default: 0] += 1 }
    }
}

extension RulesDryRun.Change {
    fileprivate mutating func add(_ customer: CustomerIdentifier, _ sampleSize: Int) {
        count += 1
        if sample.count < sampleSize { sample.append(customer) }
    }

    fileprivate mutating func merge(_ other: Self, _ sampleSize: Int) {
        count += other.count
        sample = Array((sample + other.sample).prefix(sampleSize))
    }
}

extension NumberedCustomer {
    /// - Returns: nil if the customer owns nothing by the policy, or if there is no policy.
    fileprivate func owned(by policy: OwnershipPolicy?) -> OwnedCustomer? {
        policy.flatMap { OwnedCustomer(customer, known: identifier, by: $0) }
    }
}

/// The app settings on which a customer's facts depend.
private struct ReadingOfFacts: Equatable {
    let groups: [ProductID: String]
    let familySharable: Set<ProductID>
    let freshness: Duration?
    let ownership: OwnershipPolicy

    init(_ app: Catalogue.App) {
        groups = app.groups
        familySharable = app.familySharable
        freshness = app.freshness
        ownership = app.ownership
    }
}
