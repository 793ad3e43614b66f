package import OfferCore

/// Something that happened to an offer in an app, as the app reports it.
///
/// Apps can leave events out or make them up, so an event never gives a customer an offer. It can only keep an offer from
/// the customer: see ``EventTest``.
package struct OfferEvent: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case shown, dismissed, purchased
        /// The purchase waits, for example for a parent's permission (Ask to Buy).
        case pending
        case failed
    }

    /// The account that the app names, or the account or subscription of the signature.
    package let subject: RecordedCustomer
    package let kind: Kind
    package let productID: ProductID
    package let offerID: OfferID
    package let at: Timestamp
    /// The error of a failed purchase, as the app names it; nil if there is none.
    package let error: String?
    /// The signature; nil if the app does not name one.
    package let nonce: Nonce?

    package init(
        subject: RecordedCustomer, kind: Kind, productID: ProductID, offerID: OfferID, at: Timestamp,
        error: String? = nil, nonce: Nonce? = nil
    ) {
        self.subject = subject
        self.kind = kind
        self.productID = productID
        self.offerID = offerID
        self.at = at
        self.error = error
        self.nonce = nonce
    }

    /// The number of events kept for each customer, offer and kind: the newest, and the first.
    package static let maximumCount = 50
    /// The maximum size of an error, in bytes.
    package static let maximumErrorSize = 128
}
