package import OfferCore

/// The content that the app's rules choose for a customer who is about to cancel.
package struct RetentionDecision: Hashable, Sendable {
    /// A matching case, with its content for this customer.
    package struct Choice: Hashable, Sendable {
        package enum Content: Hashable, Sendable {
            case message
            case alternateProduct(ProductID, RetentionCase.BillingPlan?)
            /// The limits have not been checked. The terms contain the case's rule, or the offer's own if the case has
            /// none.
            case promotionalOffer(OfferTerms, OfferSignatureForm)
        }

        package let content: Content
        package let messageIdentifier: UUIDText
        /// The name of the rule that held; nil if there is no rule or it has no name.
        package let rule: String?
        /// The place of the case in the configuration, from 1; nil for a granted offer without a case.
        package let caseNumber: Int64?

        package init(_ content: Content, messageIdentifier: UUIDText, rule: String?, caseNumber: Int64? = nil) {
            self.content = content
            self.messageIdentifier = messageIdentifier
            self.rule = rule
            self.caseNumber = caseNumber
        }
    }

    /// The choices in order of preference. A later one is used only if the limits refuse all earlier ones, so all
    /// choices before the last are offers.
    package let choices: [Choice]
    /// The decisions about all considered offers.
    package let offers: [OfferDecision]

    package init(choices: [Choice], offers: [OfferDecision]) {
        self.choices = choices
        self.offers = offers
    }
}

/// The App Store's data about a customer who is about to cancel.
package struct RetentionView: Hashable, Sendable {
    /// The current product.
    package let productID: ProductID
    package let locale: RetentionLocale
    package let environment: AppStoreEnvironment

    package init(productID: ProductID, locale: RetentionLocale, environment: AppStoreEnvironment) {
        self.productID = productID
        self.locale = locale
        self.environment = environment
    }
}

extension AppRules {
    /// Chooses the content for a customer. The decision depends only on these rules and the arguments.
    ///
    /// The rule of a case replaces the offer's own. Refusals that do not depend on the rule still apply.
    package func decideRetention(
        _ facts: CustomerFacts, _ view: RetentionView, at now: Timestamp
    ) -> RetentionDecision {
        var (choices, offers): ([RetentionDecision.Choice], [OfferDecision]) = ([], [])
        let group = context(facts, offering: view.productID, at: now).groupID
        for retentionCase in grantedCases(for: facts, at: now) + retention {
            guard let choice = choice(retentionCase, view, in: group) else { continue }
            if case .promotionalOffer(let terms, let form) = choice.content {
                let decision = decide(facts, about: terms, at: now)
                // A granted offer comes before the cases, so its own case has been considered.
                guard !offers.contains(where: { $0.offer.grant != nil && $0.offer == decision.offer }) else { continue }
                offers.append(decision)
                guard decision.isEligible else { continue }
                choices.append(
                    RetentionDecision.Choice(
                        .promotionalOffer(decision.offer, form), messageIdentifier: choice.messageIdentifier,
                        rule: decision.offer.rule.name, caseNumber: choice.caseNumber))
                continue
            }
            let product = choice.content.product ?? view.productID
            let context = context(facts, offering: product, at: now)
            guard retentionCase.rule.map({ $0.condition.truth(in: context) == .yes }) ?? true else { continue }
            choices.append(choice)
            break
        }
        return RetentionDecision(choices: choices, offers: offers)
    }

    /// Returns the choice if the customer's facts are not available in time: the last case, if it needs none.
    package func retentionFallback(_ view: RetentionView) -> RetentionDecision.Choice? {
        retention.last.flatMap { $0.needsNoFacts ? choice($0, view, in: products.groups[view.productID]) : nil }
    }

    /// Returns the choice that a case shows, if its rule holds.
    /// - Parameter group: the group of the current product; nil if it is unknown.
    /// - Returns: nil if the case has no message for the locale, or if the App Store would refuse the product.
    private func choice(
        _ retentionCase: RetentionCase, _ view: RetentionView, in group: String?
    ) -> RetentionDecision.Choice? {
        guard let content = content(of: retentionCase, view, in: group),
            let message = retentionCase.messages.identifier(for: view.locale, in: view.environment)
        else { return nil }
        let rule =
            if case .promotionalOffer(let terms, _) = content { terms.rule } else { retentionCase.rule }
        return RetentionDecision.Choice(
            content, messageIdentifier: message, rule: rule?.name,
            caseNumber: retention.firstIndex(of: retentionCase).map { Int64($0) + 1 })
    }

    private func content(
        of retentionCase: RetentionCase, _ view: RetentionView, in group: String?
    ) -> RetentionDecision.Choice.Content? {
        switch retentionCase.content {
        case .message: return .message
        case .alternateProduct(let productID, let plan):
            guard productID != view.productID, let group, products.groups[productID] == group else { return nil }
            return .alternateProduct(productID, plan)
        case .promotionalOffer(let offer):
            let isOfGroup =
                offer.productID == view.productID || group.map { products.groups[offer.productID] == $0 } ?? false
            guard isOfGroup, let terms = terms(of: offer, under: retentionCase.rule) else { return nil }
            return .promotionalOffer(terms, offer.form)
        }
    }

    /// Returns a case for each granted offer, the one that expires first in front. An offer that a case shows has that
    /// case's message; other offers have the message for grants.
    private func grantedCases(for facts: CustomerFacts, at now: Timestamp) -> [RetentionCase] {
        // A grant that was used must not move its case to the front.
        let granted = facts.grants.filter { grant(of: $0.productID, $0.offerID, to: facts, at: now) == $0 }.sorted {
            $0.expiresAt == $1.expiresAt
                ? $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) : $0.expiresAt < $1.expiresAt
        }
        return granted.compactMap { grant in
            for retentionCase in retention {
                guard case .promotionalOffer(let offer) = retentionCase.content,
                    grant.isAbout(offer.productID, offer.offerID)
                else { continue }
                return retentionCase
            }
            guard let messages = grants?.messages else { return nil }
            let offer = RetentionCase.Offer(productID: grant.productID, offerID: grant.offerID, form: .v2)
            return RetentionCase(rule: nil, content: .promotionalOffer(offer), messages: messages)
        }
    }

    /// True if an offer may be shown.
    package var offersRetention: Bool {
        grants?.messages != nil
            || retention.contains { if case .promotionalOffer = $0.content { true } else { false } }
    }

    /// Returns the terms of an offer that was shown: under its grant, or under the rule of its case.
    /// - Returns: nil if the configuration no longer contains the offer.
    package func retentionTerms(
        of offer: RetentionCase.Offer, _ facts: CustomerFacts, at now: Timestamp
    ) -> OfferTerms? {
        guard let grant = grant(of: offer.productID, offer.offerID, to: facts, at: now) else {
            return retentionTerms(of: offer)
        }
        return terms(of: offer.productID, offer.offerID)?.granted(by: grant)
    }

    /// Returns the terms of an offer that a case shows, under the rule of the case.
    package func retentionTerms(of offer: RetentionCase.Offer) -> OfferTerms? {
        retention.first { $0.content == .promotionalOffer(offer) }.flatMap { terms(of: offer, under: $0.rule) }
    }

    /// - Parameter rule: the rule of the case; nil for the offer's own.
    private func terms(of offer: RetentionCase.Offer, under rule: Rule?) -> OfferTerms? {
        guard let terms = terms(of: offer.productID, offer.offerID) else { return nil }
        return rule.map(terms.replacing) ?? terms
    }
}

extension RetentionDecision.Choice.Content {
    /// The shown product; nil for a message.
    fileprivate var product: ProductID? {
        switch self {
        case .message: nil
        case .alternateProduct(let productID, _): productID
        case .promotionalOffer(let terms, _): terms.productID
        }
    }
}

extension OfferTerms {
    /// Returns the same offer under another rule.
    fileprivate func replacing(rule: Rule) -> OfferTerms {
        OfferTerms(
            productID: productID, offerID: offerID, rule: rule, priority: priority, limits: limits,
            isSignedElsewhere: isSignedElsewhere)
    }
}
