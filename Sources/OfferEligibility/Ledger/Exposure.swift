package import OfferCore

/// The record that a customer could have had an offer. Everything except `share` held, and the offer was signed or
/// shown, or the customer was held out.
///
/// There is one for each customer, offer and sample: the first one. Reports compare the two arms.
package struct Exposure: Hashable, Sendable {
    package enum Arm: String, CaseIterable, Hashable, Sendable {
        case offered
        /// The customer's place in a sample was the only reason for the refusal.
        case heldOut = "held_out"
    }

    /// The Apple Account; if it is unknown or there are several, the account, or else the earliest subscription.
    package let subject: RecordedCustomer
    package let productID: ProductID
    /// nil for an introductory offer.
    package let offerID: OfferID?
    package let arm: Arm
    /// The sample of the rule; nil if the rule has none.
    package let place: SamplePlace?
    package let source: OfferSource
    /// The place in the app; nil if the request did not name it.
    package let placement: String?
    /// The SHA-256 of the rules, 32 bytes.
    package let rulesDigest: [UInt8]
    package let at: Timestamp

    package init(
        subject: RecordedCustomer, productID: ProductID, offerID: OfferID?, arm: Arm, place: SamplePlace?,
        source: OfferSource, placement: String? = nil, rulesDigest: [UInt8], at: Timestamp
    ) {
        self.subject = subject
        self.productID = productID
        self.offerID = offerID
        self.arm = arm
        self.place = place
        self.source = source
        self.placement = placement
        self.rulesDigest = rulesDigest
        self.at = at
    }

    /// nil after an erasure.
    package var customer: CustomerIdentifier? { subject.customer }

    /// Returns true if both record the same offer and sample.
    package func isAbout(_ other: Exposure) -> Bool {
        productID == other.productID && offerID == other.offerID && place?.sample == other.place?.sample
    }
}

/// The rule that allowed an offer, and the way in which it reached the customer.
package struct OfferSource: Hashable, Sendable {
    package enum Channel: String, CaseIterable, Hashable, Sendable {
        /// An answer to an app or a server.
        case decision
        /// An answer to the App Store about a customer who is about to cancel.
        case retention
        /// Either of them, because a person granted the offer.
        case grant
        /// A mailing, or a decision under the grant of a personal link.
        case link
    }

    /// The rule's name; nil for an inline rule.
    package let rule: String?
    package let channel: Channel
    /// The place of the retention case in the configuration, from 1; nil in other channels, for a granted offer without
    /// a case, and in exposures, which are the same for all cases.
    package let retentionCase: Int64?

    package init(rule: String?, channel: Channel, retentionCase: Int64? = nil) {
        self.rule = rule
        self.channel = channel
        self.retentionCase = retentionCase
    }
}

extension [Exposure] {
    /// The customer's place in each sample, according to the first exposure; of two at once, the place outside. It stays
    /// even if the customer's data would give another place later.
    package var places: [String: Bool] {
        var places: [String: Bool] = [:]
        let first = sorted { one, other in
            one.at == other.at
                ? one.place?.isInSample == false && other.place?.isInSample != false : one.at < other.at
        }
        for exposure in first {
            guard let place = exposure.place, places[place.sample] == nil else { continue }
            places[place.sample] = place.isInSample
        }
        return places
    }
}
