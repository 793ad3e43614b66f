import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

/// The record of what persons do in the console. Nothing takes effect before its line is durable, except signing out.
struct ConsoleActs: Sendable {
    /// nil if there is no audit trail.
    let trail: AuditTrail?

    /// Waits until the line of an act is durable.
    /// - Parameters:
    ///   - app: nil for acts about no app.
    ///   - item: what the act is about; nil for the app.
    ///   - customer: the identifier of the customer, or the text of a search.
    func record(
        _ kind: ConsoleAct.Kind, by account: ConsoleAccount, _ request: ConsoleRequest, app: AppScope? = nil,
        item: CatalogueItem? = nil, customer: [UInt8]? = nil, alarm: Int64? = nil, about: String? = nil
    ) async throws(ConsoleRefusal) {
        guard let trail else { return }
        let act = ConsoleAct(
            kind, by: account.name, subject: account.subject, in: app?.environment, alarm: alarm, about: about)
        let entry = entry(
            act, request, item ?? app.map { CatalogueItem(app: $0.bundleID) }, customer: customer, .accepted)
        guard trail.fault == nil, let commit = trail.add([entry]), await commit.isDurable() else {
            throw request.unavailable
        }
    }

    /// Records an act of the person who is signed in.
    func record(
        _ kind: ConsoleAct.Kind, _ request: ConsoleRequest, app: AppScope? = nil, item: CatalogueItem? = nil,
        customer: [UInt8]? = nil, alarm: Int64? = nil, about: String? = nil
    ) async throws(ConsoleRefusal) {
        guard let session = request.session else { throw .signIn(nil) }
        try await record(
            kind, by: session.account, request, app: app, item: item, customer: customer, alarm: alarm, about: about)
    }

    /// Records that an act did not take effect after all.
    func noteRefusal(
        _ code: String, of kind: ConsoleAct.Kind, by account: ConsoleAccount, _ request: ConsoleRequest,
        app: AppScope? = nil, alarm: Int64? = nil
    ) {
        guard let trail else { return }
        let act = ConsoleAct(kind, by: account.name, subject: account.subject, in: app?.environment, alarm: alarm)
        trail.note(
            entry(act, request, app.map { CatalogueItem(app: $0.bundleID) }, customer: nil, .refused(code)))
    }

    func entry(
        _ act: ConsoleAct, _ request: ConsoleRequest, _ item: CatalogueItem?, customer: [UInt8]?,
        _ outcome: AuditEntry.Outcome
    ) -> AuditEntry {
        let address =
            trail?.recordsAddresses == true
            ? request.http.peer.flatMap {
                request.policy.proxies.client(of: $0, forwardedFor: request.http.forwardedFor)
            } : nil
        return AuditEntry(
            time: request.now, requestID: request.http.id.text, act: act, address: address,
            item: item, customer: customer, outcome: outcome)
    }
}
