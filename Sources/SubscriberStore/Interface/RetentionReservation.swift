package import OfferCore
package import OfferEligibility

/// The reservation of the offer that answers a request for a retention message. The first request with an identifier
/// makes the reservation. Later requests with the identifier get the same reservation.
package struct RetentionReservation: Sendable {
    package struct Form: Sendable {
        package let signature: OfferSignatureForm
        /// The message shown with the offer.
        package let messageIdentifier: UUIDText

        package init(signature: OfferSignatureForm, messageIdentifier: UUIDText) {
            self.signature = signature
            self.messageIdentifier = messageIdentifier
        }
    }

    package let requestIdentifier: UUIDText
    /// The ledger request for one or more offers, each with one nonce. The first offer that the limits allow is
    /// reserved.
    package let ledger: LedgerRequest
    /// The signature form and the message for each offer.
    package let forms: [Form]

    package init(requestIdentifier: UUIDText, ledger: LedgerRequest, forms: [Form]) {
        self.requestIdentifier = requestIdentifier
        self.ledger = ledger
        self.forms = forms
    }
}

package enum RetentionReservationAnswer: Hashable, Sendable {
    /// The ledger's answer for each offer.
    case new([LedgerResult])
    case known(RememberedRetentionOffer)
}

/// The offer that was reserved for a request, with the values needed to repeat the answer.
package struct RememberedRetentionOffer: Hashable, Sendable {
    /// The time for which requests are remembered. The App Store's requests are accepted within five minutes before or
    /// after their date.
    package static let time = Duration.seconds(600)

    package let productID: ProductID
    package let offerID: OfferID
    package let form: OfferSignatureForm
    package let messageIdentifier: UUIDText
    package let nonce: Nonce
    /// The timestamp of the signature.
    package let at: Timestamp
    package let expiresAt: Timestamp

    package init(
        productID: ProductID, offerID: OfferID, form: OfferSignatureForm, messageIdentifier: UUIDText, nonce: Nonce,
        at: Timestamp, expiresAt: Timestamp
    ) {
        self.productID = productID
        self.offerID = offerID
        self.form = form
        self.messageIdentifier = messageIdentifier
        self.nonce = nonce
        self.at = at
        self.expiresAt = expiresAt
    }
}
