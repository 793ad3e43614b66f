import AppStoreData
import OfferCore
import OfferEligibility
import OfferHTTP

/// `POST /v1/purchases`: stores purchases that an app or a backend shows with Apple's signatures, and says which
/// transactions the app may finish.
///
/// The proofs are verified and matched with the customer as for a decision. Nothing is decided or signed.
struct PurchasesEndpoint: Sendable {
    let signing: SigningEndpoints
    let now: @Sendable () -> Timestamp

    /// The limit on requests whose proofs are being verified. Offers have one of their own.
    private let limit = LaneLimit(64)

    private var metrics: ServiceMetrics { signing.signer.metrics }

    init(signing: SigningEndpoints, now: @escaping @Sendable () -> Timestamp) {
        self.signing = signing
        self.now = now
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            do throws(Problem) { return try await answer(request, admission) } catch {
                metrics.purchase(.refused)
                throw error
            }
        }
    }

    private func answer(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        let body = try ProofBody(admission.members(of: request))
        let purchases = try PurchasesRequest(body.rest, user: admission.principal.customer)
        guard body.proofs != nil else { throw .missingField("proofs") }
        let app = try admission.app(purchases.bundleID)
        try signing.countCustomer(purchases.customer, of: purchases.bundleID, nil, admission)
        let proofs = try signing.verifiedProofs(of: body, purchases.bundleID, admission)
        let name = NamedCustomer.Name(
            bundleID: purchases.bundleID, identity: .account(purchases.customer, claiming: nil),
            environment: purchases.environment)
        let time = now()
        let decider = signing.decider
        // What the device shows is stored at once. The App Store is queried in the background.
        let named = NamedCustomer(name, proofs: proofs, unprovenRefresh: .never)
        let customer = try await CustomerLoader(store: decider.loader.store, refresher: nil).load(named, app, at: time)
        { _ in false }
        if let proofs { await decider.loader.refreshLater(proofs, of: customer.app, app, at: time) }
        try await decider.ledger.merge(customer, at: time)
        // Copied proofs must reveal only their own contents.
        let state =
            customer.isStranger
            ? try EvaluatedCustomer(
                named, in: customer.app, app, stored: nil, newFacts: customer.newFacts, RefreshOutcomes(), at: time
            ).facts.state : customer.facts.state
        var writer = JSONWriter()
        writer.member("environment", customer.app.environment.rawValue)
        if let state = state.summary { writer.member("state", state.rawValue) }
        let stored = Set(customer.newFacts.map(\.key))
        let shown = proofs?.originalTransactionIDs ?? []
        writer.objects(
            "subscriptions", state.subscriptions.filter { shown.contains($0.originalTransactionID) }
        ) { writer, subscription in
            writer.members(of: subscription)
        }
        writer.objects("transactions", proofs?.transactions.map(\.payload) ?? []) { writer, transaction in
            writer.member("transactionID", utf8: transaction.transactionID.text.utf8)
            writer.member("productID", utf8: transaction.productID.text.utf8)
            let isStored = stored.contains(SubscriberFact.Key(kind: .transaction, id: transaction.transactionID))
            metrics.purchase(isStored ? .stored : .notStored)
            writer.member("finish", isStored)
        }
        if let receipt = proofs?.receipt?.receipt {
            writer.object("appReceipt") { writer in
                writer.member("purchases", Int64(receipt.purchases.count))
                writer.member(
                    "finish",
                    !receipt.purchases.isEmpty
                        && receipt.purchases.allSatisfy { purchase in
                            stored.contains(SubscriberFact.Key(kind: .receiptTransaction, id: purchase.transactionID))
                        })
            }
        }
        if body.wantsVerifiedProofs { proofs?.write(to: &writer) }
        return HTTPResponse(body: writer.finish())
    }
}

extension JSONWriter {
    /// Writes what the customer's own app may know about a subscription.
    fileprivate mutating func members(of subscription: Subscription) {
        member("originalTransactionID", utf8: subscription.originalTransactionID.text.utf8)
        member("productID", utf8: subscription.productID.text.utf8)
        member("status", subscription.status.rawValue)
        if !subscription.settled { member("settled", false) }
        if let autoRenews = subscription.autoRenews { member("autoRenews", autoRenews) }
        if let expiresAt = subscription.expiresAt { member("expiresAt", expiresAt.milliseconds) }
    }
}
