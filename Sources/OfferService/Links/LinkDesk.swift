import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The links that customers open in the app.
///
/// ```
/// read ─▶ (load the customer) ─▶ whose is it? ─▶ claim, durable ─▶ decide
/// ```
/// A link of a campaign counts for everybody. A personal link counts only for its customer, to whom the claim gives a grant.
/// Whose it is, ``OwnedCustomer`` decides, as for every grant.
struct LinkDesk: Sendable {
    let store: CurrentStore
    /// nil if there are no personal links.
    let key: LinkKey?
    let metrics: ServiceMetrics

    /// Finds out what a link is, without using it.
    /// - Parameter text: the member `link` of a request.
    func read(
        _ text: FieldText, of bundleID: BundleID, _ app: Catalogue.App, at now: Timestamp
    ) async throws(Problem) -> ShownLink {
        guard let policy = app.rules.links, let text = LinkText(text.description) else {
            return .refused(.unknown, campaign: nil)
        }
        switch text {
        case .campaign(let name):
            guard let campaign = policy.campaign(name) else { return .refused(.unknown, campaign: nil) }
            return campaign.hasEnded(at: now) ? .refused(.expired, campaign: name) : .campaign(name)
        case .personal(let token):
            guard let key, let token = LinkToken(token, in: bundleID, under: key) else {
                return .refused(.unknown, campaign: nil)
            }
            guard let (link, scope) = try await find(token.id, of: bundleID, app),
                link.arm == .offered, let campaign = policy.campaign(link.campaign)
            else { return .refused(.unknown, campaign: nil) }
            guard now < link.expiresAt, !campaign.hasEnded(at: now), campaign.offer == link.offer else {
                return .refused(.expired, campaign: link.campaign)
            }
            return .personal(link, scope)
        }
    }

    private func find(
        _ id: [UInt8], of bundleID: BundleID, _ app: Catalogue.App
    ) async throws(Problem) -> (MailedLink, AppScope)? {
        for environment in AppStoreEnvironment.known where app.environments.contains(environment) {
            let scope = AppScope(bundleID: bundleID, environment: environment)
            do throws(StoreError) {
                if let link = try await store.link(id, in: scope) { return (link, scope) }
            } catch { throw Problem(error) }
        }
        return nil
    }

    /// Records that a customer opened a link, and adds the grant of a personal link. It is durable before the decision.
    /// - Returns: false if the link gives nothing, because its customer was erased in the meantime.
    func use(_ shown: ShownLink, _ result: LinkResult, at now: Timestamp) async throws(Problem) -> Bool {
        guard result.refusal == nil, case .personal(let link, let app) = shown else {
            metrics.shownLink(result.refusal.map(ServiceMetrics.ShownLinkOutcome.init) ?? .campaign)
            return true
        }
        guard link.claimedAt == nil else {
            metrics.shownLink(.repeated)
            return true
        }
        let claimed: MailedLink?
        do throws(StoreError) { claimed = try await store.claim(link, in: app, at: now) } catch { throw Problem(error) }
        metrics.shownLink(claimed == nil ? .unknown : .claimed)
        return claimed != nil
    }
}

extension ServiceMetrics.ShownLinkOutcome {
    fileprivate init(_ refusal: ShownLink.Refusal) {
        switch refusal {
        case .unknown: self = .unknown
        case .expired: self = .expired
        case .anotherCustomers: self = .anotherCustomers
        }
    }
}
