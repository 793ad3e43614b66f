package import OfferCore
package import SubscriberStore

/// What rules would decide about stored customers, and how that differs from the rules in force.
///
/// Limits are not counted: the ledger says what was handed out, and not what would have been.
package struct RulesTrial: Sendable {
    /// An offer of an app in one environment.
    package struct Offer: Hashable, Sendable {
        package let app: AppScope
        package let productID: ProductID
        package let offerID: OfferID
    }

    /// What happens to customers with one offer.
    package struct Outcome: Sendable {
        /// The name of the rule; nil for a condition in place, or if there is none.
        package fileprivate(set) var ruleInForce: String?
        package fileprivate(set) var newRule: String?
        /// Customers by each reason against them; nil stands for a yes.
        package fileprivate(set) var inForce: [ReasonCode?: Int] = [:]
        package fileprivate(set) var new: [ReasonCode?: Int] = [:]
        package fileprivate(set) var gained = Change()
        package fileprivate(set) var lost = Change()
    }

    /// The customers for whom the answer changes.
    package struct Change: Sendable {
        package fileprivate(set) var count = 0
        /// The first few, by account, else by subscription.
        package fileprivate(set) var sample: [CustomerIdentifier] = []
    }

    /// Each customer once.
    package private(set) var customers = 0
    package private(set) var outcomes: [Offer: Outcome] = [:]
    private let sampleSize: Int

    /// - Parameter sampleSize: how many customers are named for each change.
    package init(sampleSize: Int) {
        self.sampleSize = sampleSize
    }

    /// Decides about the customer of a subscription, unless an earlier subscription of the same customer stands for all.
    /// - Parameters:
    ///   - inForce: nil if the app is not in the configuration in force.
    ///   - new: nil if it is not in the new one.
    package mutating func add(
        _ numbered: NumberedCustomer, inForce: Catalogue.App?, new: Catalogue.App?, at now: Timestamp
    ) {
        guard let configured = new ?? inForce else { return }
        for (identifier, customer) in numbered.customers(by: configured.ownership) {
            customers += 1
            let app = numbered.customer.app
            let factsInForce = inForce.map { CustomerFacts(customer, groups: $0.groups, at: now) }
            let before = decide(factsInForce, by: inForce, of: app, at: now)
            // Most often, the rules are new and the products are not.
            let newFacts =
                inForce?.groups == new?.groups
                ? factsInForce : new.map { CustomerFacts(customer, groups: $0.groups, at: now) }
            let after = decide(newFacts, by: new, of: app, at: now)
            for (offer, decision) in before {
                // In place, because a copy would copy all counts.
                outcomes[offer, default: Outcome()].count(decision, after[offer], for: identifier, sampleSize)
            }
            for (offer, decision) in after where before[offer] == nil {
                outcomes[offer, default: Outcome()].count(nil, decision, for: identifier, sampleSize)
            }
        }
    }

    /// - Parameter facts: nil if `configured` is.
    private func decide(
        _ facts: CustomerFacts?, by configured: Catalogue.App?, of app: AppScope, at now: Timestamp
    ) -> [Offer: OfferDecision] {
        guard let facts, let configured else { return [:] }
        return Dictionary(
            configured.rules.decide(facts, at: now).map { decision in
                (Offer(app: app, productID: decision.offer.productID, offerID: decision.offer.offerID), decision)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Adds what another part of the customers gave.
    package mutating func merge(_ other: RulesTrial) {
        customers += other.customers
        outcomes.merge(other.outcomes) { one, other in
            var outcome = one
            outcome.ruleInForce = one.ruleInForce ?? other.ruleInForce
            outcome.newRule = one.newRule ?? other.newRule
            outcome.inForce.merge(other.inForce, uniquingKeysWith: +)
            outcome.new.merge(other.new, uniquingKeysWith: +)
            outcome.gained.merge(other.gained, sampleSize)
            outcome.lost.merge(other.lost, sampleSize)
            return outcome
        }
    }
}

extension RulesTrial.Outcome {
    /// - Parameters:
    ///   - before: the decision by the rules in force; nil if they do not have the offer.
    ///   - after: the decision by the new rules; nil if they do not have it.
    fileprivate mutating func count(
        _ before: OfferDecision?, _ after: OfferDecision?, for customer: CustomerIdentifier, _ sampleSize: Int
    ) {
        if let before {
            ruleInForce = before.offer.rule.name
            for code in before.codes { inForce[code, default: 0] += 1 }
        }
        if let after {
            newRule = after.offer.rule.name
            for code in after.codes { new[code, default: 0] += 1 }
        }
        let (had, has) = (before?.isEligible == true, after?.isEligible == true)
        if has, !had { gained.add(customer, sampleSize) }
        if had, !has { lost.add(customer, sampleSize) }
    }
}

extension OfferDecision {
    /// Each reason once; nil for a yes.
    fileprivate var codes: Set<ReasonCode?> { reasons.isEmpty ? [nil] : Set(reasons.map(\.code)) }
}

extension RulesTrial.Change {
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
    /// The customers of whom this subscription is the first: none if an earlier one stands for them, and several if several accounts
    /// share it.
    fileprivate func customers(by policy: OwnershipPolicy) -> [(CustomerIdentifier, OwnedCustomer)] {
        guard let found = OwnedCustomer(customer, known: .originalTransactionID(originalTransactionID), by: policy)
        else { return [] }
        let tokens = Set(found.facts.compactMap(\.appAccountToken)).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        let accounts = tokens.map(CustomerIdentifier.appAccountToken).compactMap { identifier in
            OwnedCustomer(customer, known: identifier, by: policy).map { (identifier, $0) }
        }.filter { !$0.1.facts.isEmpty }
        let owned = accounts.isEmpty ? [(.originalTransactionID(originalTransactionID), found)] : accounts
        return owned.filter { _, customer in
            customer.facts.lazy.map(\.originalTransactionID).min { $0.precedes($1) } == originalTransactionID
        }
    }
}

extension CustomerFacts {
    /// What the store knows of a customer.
    init(_ customer: OwnedCustomer, groups: [ProductID: String], at now: Timestamp) {
        let state = SubscriberState(
            of: customer.facts, environment: customer.app.environment, groups: groups, at: now)
        self.init(state: state, environment: customer.app.environment, team: customer.teamFactsByName)
    }
}
