package import OfferCore
import OfferCrypto
package import OfferEligibility
package import SubscriberStore

/// Makes the personal links of a campaign for customers, or leaves them out of the mailing.
package struct LinkMaker: Sendable {
    let app: AppScope
    let mailing: Mailing
    let key: LinkKey
    /// The scheme and host of links.
    let origin: String

    /// - Parameter lifetime: the time for which new links are valid, unless the campaign ends earlier.
    /// - Returns: nil if the campaign has no offer for personal links.
    package init?(
        _ campaign: Campaign, in app: AppScope, under key: LinkKey, origin: String, rulesDigest: [UInt8],
        at now: Timestamp,
        lifetime: Duration
    ) {
        guard let offer = campaign.offer else { return nil }
        self.app = app
        self.key = key
        self.origin = origin
        let end = min((now + lifetime).milliseconds, campaign.until?.milliseconds ?? .max)
        mailing = Mailing(
            campaign: campaign.name, offer: offer, holdOut: campaign.holdOut, madeAt: now,
            // Tokens have whole seconds.
            expiresAt: Timestamp(milliseconds: end / 1000 * 1000), rulesDigest: rulesDigest)
    }

    package enum Made: Hashable, Sendable {
        /// The address of the customer's link.
        case link(String)
        /// The customer is left out of the mailing.
        case heldOut
        /// The customer had a link and was erased. No new one is made.
        case erased
        /// The customer has a link that has expired, or that was made for another offer. No new one is made.
        case over
    }

    /// Makes links, durable when this returns. A customer who has one gets the same again.
    package func make(for customers: [CustomerIdentifier], in store: some LinkStore) async throws -> [Made] {
        try await store.make(mailing, for: customers, in: app).map { link in
            guard link.subject.customer != nil else { return .erased }
            guard link.arm == .offered else { return .heldOut }
            guard mailing.madeAt < link.expiresAt, link.offer == mailing.offer else { return .over }
            let token = try LinkToken(of: link, under: key).text(in: app.bundleID, under: key)
            return .link(origin + LinkText.path + LinkText.personal(token: token).lastPart)
        }
    }
}
