import OfferCore
import OfferEligibility
import SubscriberStore

/// The link that a request shows, before it is known whose it is.
enum ShownLink: Hashable, Sendable {
    case campaign(String)
    case personal(MailedLink, AppScope)
    case refused(Refusal, campaign: String?)

    /// The reasons for which a link does not count. The raw values are wire values.
    enum Refusal: String, CaseIterable, Hashable, Sendable {
        /// This is no link of the app, or its campaign has been removed from the configuration.
        case unknown = "unknown_link"
        case expired = "link_expired"
        /// The link was made for another customer, or the request does not identify its customer.
        case anotherCustomers = "another_customers_link"
    }

    /// The grant that the link gives in an app, if its customer shows it.
    func grant(in app: AppScope) -> OfferGrant? {
        guard case .personal(let link, app) = self else { return nil }
        return link.grant
    }

    /// - Parameter isOwn: true if a personal link is the customer's.
    func result(isOwn: Bool) -> LinkResult {
        switch self {
        case .campaign(let name): LinkResult(campaign: name, refusal: nil)
        case .personal(let link, _): LinkResult(campaign: link.campaign, refusal: isOwn ? nil : .anotherCustomers)
        case .refused(let refusal, let campaign): LinkResult(campaign: campaign, refusal: refusal)
        }
    }
}

/// The result of the link in a request.
struct LinkResult: Hashable, Sendable {
    /// nil if it is unknown.
    let campaign: String?
    /// nil if the link counts.
    let refusal: ShownLink.Refusal?
}
