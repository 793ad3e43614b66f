package import OfferCore

/// A personal link of a campaign: one customer's right to the campaign's offer, or the record that the customer was held
/// out of the mailing and got no link.
package struct MailedLink: Hashable, Sendable {
    /// 8 bytes. The same campaign and customer always have the same ID in a database.
    package let id: [UInt8]
    package let campaign: String
    package let subject: RecordedCustomer
    package let arm: Exposure.Arm
    package let offer: Campaign.Offer
    package let madeAt: Timestamp
    package let expiresAt: Timestamp
    /// The time at which the customer first opened the link in the app; nil if that did not happen.
    package let claimedAt: Timestamp?

    package static let idSize = 8

    package init(
        id: [UInt8], campaign: String, subject: RecordedCustomer, arm: Exposure.Arm, offer: Campaign.Offer,
        madeAt: Timestamp, expiresAt: Timestamp, claimedAt: Timestamp? = nil
    ) {
        self.id = id
        self.campaign = campaign
        self.subject = subject
        self.arm = arm
        self.offer = offer
        self.madeAt = madeAt
        self.expiresAt = expiresAt
        self.claimedAt = claimedAt
    }

    /// The grant that the link gives its customer. nil if the customer was held out or erased.
    ///
    /// The grant is as old as the link. If the customer has redeemed the offer since then, the link gives nothing more.
    package var grant: OfferGrant? {
        guard arm == .offered, case .customer(let customer) = subject,
            let id = UUIDText(bytes: id + Self.grantIDSuffix)
        else { return nil }
        return OfferGrant(
            id: id, subject: subject, account: customer.account, productID: offer.productID, offerID: offer.offerID,
            purpose: OfferGrant.Purpose(reason: OfferGrant.campaignReason), liftsLimits: false,
            maker: OfferGrant.Person(campaign), at: madeAt, expiresAt: expiresAt, approval: .notNeeded)
    }

    /// Returns the ID of the link that gave a grant; nil if a person gave it.
    package static func id(of grant: OfferGrant) -> [UInt8]? {
        grant.purpose.reason == OfferGrant.campaignReason ? Array(grant.id.bytes.prefix(idSize)) : nil
    }

    /// The second half of the IDs of all grants by link: the variant of RFC 9562, and zeros.
    private static let grantIDSuffix: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 0]

    /// The exposure of the customer to the offer by the mailing. `links make` records it for both arms, so reports compare
    /// everybody to whom a link was sent with everybody who was held out.
    package func exposure(rulesDigest: [UInt8]) -> Exposure {
        Exposure(
            subject: subject, productID: offer.productID, offerID: offer.offerID, arm: arm,
            place: SamplePlace(sample: Campaign.samplePrefix + campaign, isInSample: arm == .offered),
            source: OfferSource(rule: nil, channel: .link), rulesDigest: rulesDigest, at: madeAt)
    }
}

/// The personal links of a campaign, before it is known who gets one.
package struct Mailing: Hashable, Sendable {
    package let campaign: String
    package let offer: Campaign.Offer
    /// The share of customers who are left out.
    package let holdOut: Double
    package let madeAt: Timestamp
    package let expiresAt: Timestamp
    /// The SHA-256 of the rules.
    package let rulesDigest: [UInt8]

    package init(
        campaign: String, offer: Campaign.Offer, holdOut: Double, madeAt: Timestamp, expiresAt: Timestamp,
        rulesDigest: [UInt8]
    ) {
        self.campaign = campaign
        self.offer = offer
        self.holdOut = holdOut
        self.madeAt = madeAt
        self.expiresAt = expiresAt
        self.rulesDigest = rulesDigest
    }

    /// Returns the new link of a customer.
    /// - Parameter code: 32 bytes, which are random but always the same for the campaign and the customer.
    package func link(to customer: CustomerIdentifier, code: [UInt8]) -> MailedLink {
        let bits = code[MailedLink.idSize..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let position = Double(bits >> 11) / Double(1 << 53)
        return MailedLink(
            id: Array(code.prefix(MailedLink.idSize)), campaign: campaign, subject: .customer(customer),
            arm: position < holdOut ? .heldOut : .offered, offer: offer, madeAt: madeAt, expiresAt: expiresAt)
    }
}
