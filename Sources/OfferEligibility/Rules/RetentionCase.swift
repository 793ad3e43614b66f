package import OfferCore

/// Content that the App Store can show to a customer who is about to cancel, with its rule.
package struct RetentionCase: Hashable, Sendable {
    /// The kinds of content, named as by the App Store.
    package enum Content: Hashable, Sendable {
        case message
        /// Another product in the same subscription group.
        case alternateProduct(ProductID, BillingPlan?)
        case promotionalOffer(Offer)
    }

    /// A promotional offer with a rule, from the catalogue.
    package struct Offer: Hashable, Sendable {
        package let productID: ProductID
        package let offerID: OfferID
        package let form: OfferSignatureForm

        package init(productID: ProductID, offerID: OfferID, form: OfferSignatureForm) {
            self.productID = productID
            self.offerID = offerID
            self.form = form
        }
    }

    /// The payment plan of an annual subscription.
    package enum BillingPlan: String, CaseIterable, Hashable, Sendable {
        case monthly = "MONTHLY"
        case billedUpfront = "BILLED_UPFRONT"
    }

    /// nil if the case has no rule. An offer then uses its own.
    package let rule: Rule?
    package let content: Content
    package let messages: RetentionMessages

    package init(rule: Rule?, content: Content, messages: RetentionMessages) {
        self.rule = rule
        self.content = content
        self.messages = messages
    }

    /// True if the content can be shown without facts about the customer. Always false for an offer.
    package var needsNoFacts: Bool {
        if case .promotionalOffer = content { return false }
        return rule == nil
    }

    /// Returns true if no later case can be reached.
    package func isShownToEveryone(in environments: Set<AppStoreEnvironment>) -> Bool {
        rule == nil && content == .message && environments.allSatisfy(messages.coversEveryLocale)
    }
}

/// The form of a promotional offer's signature.
package enum OfferSignatureForm: String, CaseIterable, Hashable, Sendable {
    /// A signature over seven fields joined by U+2063.
    case v1
    /// A compact JWS that is bound to a transaction.
    case v2
}
