package import OfferCore

/// Finds settings in a configuration file that are valid but probably unintended.
package enum CatalogueLint {
    /// - Returns: the warnings, sorted by bundle ID.
    package static func warnings(about catalogue: Catalogue) -> [Diagnostic] {
        lints(of: catalogue).flatMap(\.warnings)
    }

    /// - Parameter asked: the apps whose customers the service refreshes from the App Store.
    /// - Returns: notes on possibly unexpected effects of the file, sorted by bundle ID.
    package static func notes(about catalogue: Catalogue, asking asked: Set<BundleID> = []) -> [Diagnostic] {
        let names = Set(asked.map(\.text.description))
        return lints(of: catalogue).flatMap { lint in
            lint.ofSandbox + lint.ofUsernames + (names.contains(lint.name) ? [] : lint.ofHistories)
        }
    }

    private static func lints(of catalogue: Catalogue) -> [AppLint] {
        catalogue.apps.sorted { $0.key.text.description < $1.key.text.description }.map { bundleID, app in
            AppLint(name: bundleID.text.description, app: app)
        }
    }
}

private struct AppLint {
    let name: String
    let app: Catalogue.App

    var warnings: [Diagnostic] {
        let offers = app.rules.offers
        let byProduct = Dictionary(grouping: offers, by: \.productID).values
        var warnings: [Diagnostic] = offers.flatMap { ofNames($0) + ofLimits($0) + ofProduct($0) }
        warnings += byProduct.flatMap(ofOrder).sorted { $0.error < $1.error }
        return warnings + ofRetention + ofPrices
    }

    var ofSandbox: [Diagnostic] {
        guard !app.rules.offers.isEmpty, !app.rules.isSandboxV1Set, app.environments.contains(.sandbox) else {
            return []
        }
        return [
            Diagnostic(
                "\(name): in the sandbox, offers with a rule get a compactJWS and no signature, so an app that uses "
                    + "StoreKit 1 cannot redeem them in TestFlight and App Review",
                hint: "for such an app, set sandboxV1: true; otherwise, set it to false to silence this note")
        ]
    }

    /// A note that limits per customer cannot be enforced for customers known only by a username.
    var ofUsernames: [Diagnostic] {
        guard app.rules.offers.contains(where: { $0.limits.perCustomer != nil || $0.limits.cooldown != nil }) else {
            return []
        }
        return [
            Diagnostic(
                "\(name): perCustomer and cooldown cannot be enforced for a customer known only by an applicationUsername "
                    + "that is not a UUID, because no signed data carries it",
                hint: "use a UUID as the username, or have apps send proofs and use the compactJWS")
        ]
    }

    /// A note on rules that only customers with a complete history can meet.
    var ofHistories: [Diagnostic] {
        let offers = app.rules.offers.filter { $0.rule.condition.needsCompleteHistory }
            .map { "\($0.productID.text) \($0.offerID.text)" }
        let introductory = app.rules.introductoryOffers.map(\.condition.needsCompleteHistory) == true
        let named = offers + (introductory ? ["introductory offers"] : [])
        guard !named.isEmpty else { return [] }
        return [
            Diagnostic(
                "\(name): these rules need to know that something never happened: \(named.joined(separator: ", "))",
                hint:
                    "let the service query the App Store (docs/app-store.md), or have apps send an app receipt in proofs; "
                    + "without either, the rules refuse customers for unknown facts")
        ]
    }

    /// Warnings about implausible prices. Impossible prices are errors that the file's reader reports.
    private var ofPrices: [Diagnostic] {
        app.prices.flatMap { price in
            price.excesses.filter { !$0.isImpossible }.map { excess in
                Diagnostic(
                    "\(name) \(price.productID.text) \(price.offerID.text): the offer costs \(excess.amount) "
                        + "\(excess.currency), and \(Self.product(for: excess.periods)) \(excess.full)",
                    hint: price.mode == nil
                        ? "correct one of the prices, or set the offer's mode and periods"
                        : "correct one of the prices, or the number of periods")
            }
        }
    }

    private static func product(for periods: Int) -> String {
        periods == 1 ? "the product" : "\(periods) periods of the product"
    }

    /// A warning if the last retention case is not for everyone.
    private var ofRetention: [Diagnostic] {
        guard let last = app.rules.retention.last, !last.needsNoFacts else { return [] }
        return [
            Diagnostic(
                "\(name) retention: the last case needs facts about the customer. If no case holds, or no decision is "
                    + "possible in time, the App Store shows a message of App Store Connect, perhaps with a discount, "
                    + "else the default message, else nothing",
                hint: "end the list with a message without a rule")
        ]
    }

    private func warning(_ offer: OfferTerms, _ problem: String, hint: String) -> Diagnostic {
        Diagnostic("\(name) \(offer.productID.text) \(offer.offerID.text): \(problem)", hint: hint)
    }

    // MARK: Names

    /// Warnings about names that a rule uses but the file does not define.
    private func ofNames(_ offer: OfferTerms) -> [Diagnostic] {
        let offers = Set(app.offers.values.joined().map(\.text.description))
        let (products, groups) = (Set(app.offers.keys), Set(app.groups.values))
        return offer.rule.condition.leaves.flatMap { leaf -> [Diagnostic] in
            switch leaf {
            case .test(let test):
                guard let test = test.kind as? RedemptionTest else { return [] }
                return (test.offers ?? []).subtracting(offers).sorted().map {
                    warning(offer, "the rule names the offer \($0), which the app does not have", hint: "correct it")
                }
            case .subscription(let condition):
                var named = condition.products ?? []
                for test in condition.tests.compactMap({ $0.kind as? RenewsToTest }) {
                    for case .product(let product) in test.renewals { named.insert(product) }
                }
                let unknown =
                    named.subtracting(products).map(\.text.description).sorted().map {
                        warning(
                            offer, "the rule names the product \($0), which the app does not list",
                            hint: "correct it, or list the product without offers")
                    }
                    + withoutGroup(of: condition).map {
                        warning(
                            offer,
                            "the rule names the product \($0), which has no subscriptionGroupID, so the service cannot tell "
                                + "that a customer does not subscribe to it",
                            hint: "copy it from App Store Connect")
                    }
                guard case .some(let ids) = condition.groups else { return unknown }
                return unknown
                    + ids.subtracting(groups).sorted().map {
                        warning(
                            offer, "the rule names the group \($0), which no product of the app has",
                            hint: "correct it, or set subscriptionGroupID of its products")
                    }
            default: return []
            }
        }
    }

    /// Returns the products without a group that a condition on all groups lists.
    private func withoutGroup(of condition: SubscriptionCondition) -> [String] {
        guard condition.groups == .any else { return [] }
        return (condition.products ?? []).filter { app.offers[$0] != nil && app.groups[$0] == nil }
            .map(\.text.description).sorted()
    }

    /// Warnings about missing product properties that rules need.
    private func ofProduct(_ offer: OfferTerms) -> [Diagnostic] {
        var warnings: [Diagnostic] = []
        if app.groups[offer.productID] == nil {
            warnings.append(
                warning(
                    offer,
                    "the product has no subscriptionGroupID, so nothing is known about customers of the other products in "
                        + "its group",
                    hint: "copy it from App Store Connect"))
        }
        if offer.rule.condition.comparesRanks, app.rules.products.ranks[offer.productID] == nil {
            warnings.append(
                warning(
                    offer, "the rule compares ranks, but the product has none",
                    hint: "give each product of the group a rank"))
        }
        return warnings
    }

    // MARK: Limits

    private func ofLimits(_ offer: OfferTerms) -> [Diagnostic] {
        let limits = offer.limits
        var warnings: [Diagnostic] = []
        if let total = limits.total, limits.outstanding > total {
            warnings.append(
                warning(offer, "outstanding is greater than total", hint: "lower it, or leave it out"))
        }
        if let perCustomer = limits.perCustomer, perCustomer.count > 1, let every = perCustomer.every,
            let cooldown = limits.cooldown, cooldown * (perCustomer.count - 1) >= every
        {
            warnings.append(
                warning(
                    offer, "perCustomer is unreachable: the cooldown allows fewer redemptions",
                    hint: "shorten the cooldown, or lower the count"))
        }
        return warnings
    }

    // MARK: Order

    /// Warnings about offers that another offer of the same product always beats or ties.
    private func ofOrder(_ offers: [OfferTerms]) -> [Diagnostic] {
        let sorted = offers.enumerated().sorted {
            $0.element.priority == $1.element.priority
                ? $0.offset < $1.offset : $0.element.priority > $1.element.priority
        }.map(\.element)
        var warnings: [Diagnostic] = []
        for (place, offer) in sorted.enumerated() {
            guard
                let better = sorted[..<place].first(where: {
                    offer.rule.condition.implies($0.rule.condition)
                })
            else { continue }
            let isSame = better.rule.condition.implies(offer.rule.condition)
            if better.limits == OfferLimits() {
                warnings.append(
                    warning(
                        offer,
                        "it is never the best offer: every customer who gets it also gets \(better.offerID.text), "
                            + "which comes first",
                        hint: "change a priority or a rule"))
            } else if isSame, better.priority == offer.priority {
                warnings.append(
                    warning(
                        offer, "the same customers get \(better.offerID.text), with the same priority",
                        hint: "give one of them a higher priority"))
            }
        }
        return warnings
    }
}

extension Condition {
    /// The conditions that contain no other conditions.
    fileprivate var leaves: [Condition] {
        switch self {
        case .all(let members), .any(let members): members.flatMap(\.leaves)
        case .not(let member): member.leaves
        case .rule(_, let condition): condition.leaves
        case .subscription, .test: [self]
        }
    }

    fileprivate var comparesRanks: Bool {
        leaves.contains { leaf in
            guard case .subscription(let condition) = leaf else { return false }
            return condition.tests.contains { test in
                test.kind is RankTest
                    || (test.kind as? RenewsToTest)?.renewals.isDisjoint(with: [.lower, .higher]) == false
            }
        }
    }

    /// Returns true if comparing the members proves that every customer who meets this condition also meets `other`.
    fileprivate func implies(_ other: Condition) -> Bool { requirements.isSuperset(of: other.requirements) }

    /// The conditions that must all hold, each as small as possible.
    private var requirements: Set<Condition> {
        switch self {
        case .all(let members): members.reduce(into: []) { $0.formUnion($1.requirements) }
        case .rule(_, let condition): condition.requirements
        case .subscription(let condition) where condition.groups == .offered || condition.products?.count == 1:
            // All tests apply to one subscription, the current one of a group. A condition without tests is one
            // requirement.
            condition.tests.isEmpty
                ? [self]
                : Set(
                    condition.tests.map {
                        .subscription(
                            SubscriptionCondition(groups: condition.groups, products: condition.products, tests: [$0]))
                    })
        case .any, .not, .subscription, .test: [self]
        }
    }
}
