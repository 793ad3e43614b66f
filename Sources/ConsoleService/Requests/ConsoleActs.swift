import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

/// The record of what persons do in the console. Nothing takes effect before its line is durable.
struct ConsoleActs: Sendable {
    /// nil if there is no audit trail.
    let trail: AuditTrail?

    /// - Parameters:
    ///   - app: nil for acts about no app.
    ///   - customer: the identifier of the customer, or the text of a search.
    func record(
        _ kind: ConsoleAct.Kind, by account: ConsoleAccount, _ request: ConsoleRequest, app: AppScope? = nil,
        customer: [UInt8]? = nil, alarm: Int64? = nil
    ) async throws(ConsoleRefusal) {
        guard let trail else { return }
        let address =
            trail.recordsAddresses
            ? request.http.peer.flatMap {
                request.policy.proxies.client(of: $0, forwardedFor: request.http.forwardedFor)
            } : nil
        let entry = AuditEntry(
            time: request.now, requestID: request.http.id.text,
            act: ConsoleAct(
                kind, by: account.name, subject: account.subject, in: app?.environment, alarm: alarm),
            address: address, app: app?.bundleID, customer: customer)
        guard trail.fault == nil, let commit = trail.add([entry]), await commit.isDurable() else {
            throw request.unavailable
        }
    }

    /// Records an act of the person who is signed in.
    func record(
        _ kind: ConsoleAct.Kind, _ request: ConsoleRequest, app: AppScope? = nil, customer: [UInt8]? = nil,
        alarm: Int64? = nil
    ) async throws(ConsoleRefusal) {
        guard let session = request.session else { throw .signIn(nil) }
        try await record(kind, by: session.account, request, app: app, customer: customer, alarm: alarm)
    }
}
