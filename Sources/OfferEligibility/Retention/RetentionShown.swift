package import OfferCore

/// The record of one answer to the App Store about a customer who was about to cancel.
package struct RetentionShown: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        case subscription(TransactionID)
        /// Random bytes in place of an erased customer.
        case erased([UInt8])
    }

    package let requestIdentifier: UUIDText
    package let subject: Subject
    /// The kind of the answer, and the reason for it, as in metrics.
    package let answer: String
    package let reason: String
    /// nil if nothing was shown.
    package let messageIdentifier: UUIDText?
    /// The shown product; nil for a message or nothing.
    package let productID: ProductID?
    /// nil unless the answer is an offer.
    package let offerID: OfferID?
    /// The name of the rule that held; nil if there is none.
    package let rule: String?
    /// The place of the case in the configuration, from 1; nil if no case applied, or in data of an earlier version.
    package let caseNumber: Int64?
    package let at: Timestamp

    package init(
        requestIdentifier: UUIDText, subject: Subject, answer: String, reason: String, messageIdentifier: UUIDText?,
        productID: ProductID?, offerID: OfferID?, rule: String?, caseNumber: Int64? = nil, at: Timestamp
    ) {
        self.requestIdentifier = requestIdentifier
        self.subject = subject
        self.answer = answer
        self.reason = reason
        self.messageIdentifier = messageIdentifier
        self.productID = productID
        self.offerID = offerID
        self.rule = rule
        self.caseNumber = caseNumber
        self.at = at
    }
}

extension OfferEvent {
    /// The offer that the App Store was told to show; nil for an answer without an offer.
    package init?(_ shown: RetentionShown) {
        guard let productID = shown.productID, let offerID = shown.offerID, case .subscription(let id) = shown.subject
        else { return nil }
        self.init(
            subject: .customer(.originalTransactionID(id)), kind: .shown, productID: productID, offerID: offerID,
            at: shown.at)
    }
}
