package import OfferCore

/// A case of `instead`: the content for a customer who gets no offer, and its rule.
package struct Alternative: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// The app's own message.
        /// - `key`: the message's name in the app.
        /// - `text`: the words; nil if the app has them.
        case message(key: String, text: String?)
        /// A product without an offer, such as a cheaper one.
        case product(ProductID)
        /// The App Store's page of the customer's subscriptions.
        case manageSubscriptions
        /// The App Store's page of the customer's payment.
        case updatePayment
        case nothing
    }

    /// nil if the case holds for everybody.
    package let rule: Rule?
    package let content: Content

    package init(rule: Rule?, content: Content) {
        self.rule = rule
        self.content = content
    }
}
