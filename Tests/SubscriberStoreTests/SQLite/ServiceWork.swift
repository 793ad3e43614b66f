import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore

/// Calls every function of a store that the service calls while it serves.
enum ServiceWork {
    static func run(_ store: any SubscriberStore) async throws {
        for number in 1...3 {
            let delivery = Sample.delivery("n\(number)", Sample.facts(number / 2), to: ["https://a.example"])
            _ = try await store.apply(delivery)
        }
        try await store.merge([Sample.transaction("9", of: "1", 30, 60)], in: Sample.production)
        try await customers(store)
        try await background(store)
        try await retention(store)
        try await ledger(store)
        _ = try await store.erase(Sample.account(1), in: Sample.production)
    }

    private static func ledger(_ store: any SubscriberStore) async throws {
        var random = SystemRandomNumberGenerator()
        let (productID, offerID) = (try ProductID(utf8: Array("monthly".utf8)), try OfferID(utf8: Array("capped".utf8)))
        let holder = CustomerIdentifier.originalTransactionID(Sample.id("1"))
        try await store.beginLedger(
            LedgerCoverage(
                apps: [Sample.production],
                decided: [LedgerOffer(app: Sample.production, productID: productID, offerID: offerID)]),
            at: Sample.day(0))
        let nonce = Nonce(using: &random)
        let offer = LedgerRequest.Offer(
            productID: productID, offerID: offerID, limits: OfferLimits(perCustomer: .init(count: 1), total: 9),
            nonces: [nonce], expiresAt: Sample.day(99), source: OfferSource(rule: "r", channel: .decision),
            exposures: [Sample.exposure(of: holder, .offered, "capped")])
        let heldOut = LedgerRequest.HeldOutOffer(
            productID: productID, offerID: try OfferID(utf8: Array("held".utf8)), limits: OfferLimits(total: 9),
            place: 0,
            exposures: [Sample.exposure(of: holder, .heldOut, "held", sample: "s")])
        let request = LedgerRequest(
            app: Sample.production, holders: [holder], offers: [offer], reserving: .first, heldOut: [heldOut],
            at: Sample.day(3))
        _ = try await store.reserve(request)
        try await store.withdraw([nonce], in: Sample.production)
        try await store.merge(
            [
                Sample.transaction("10", of: "1", 60, 90) {
                    $0.offer = AppliedOffer(type: .promotional, identifier: "capped")
                }
            ], in: Sample.production)
        _ = try await store.ledgerEntries(of: [holder], in: Sample.production)
        _ = try await store.unexplainedRedemptions(in: [Sample.production], limit: 9)
        _ = try await store.acknowledgedRedemptions(in: [Sample.production], limit: 9)
        _ = try await store.offerActivity(since: Sample.day(0))
        _ = try await store.linkCounts(in: Sample.production)
        _ = try await store.redemptions(after: 0, limit: 9)
        _ = try await store.lastRedemption()
    }

    private static func retention(_ store: any SubscriberStore) async throws {
        var random = SystemRandomNumberGenerator()
        let ids = (try ProductID(utf8: Array("monthly".utf8)), try OfferID(utf8: Array("half".utf8)))
        let offer = LedgerRequest.Offer(
            productID: ids.0, offerID: ids.1, limits: OfferLimits(), nonces: [Nonce(using: &random)],
            expiresAt: Sample.day(99))
        let (request, message) = (UUIDText(high: 7, low: 1), UUIDText(high: 7, low: 2))
        _ = try await store.reserve(
            RetentionReservation(
                requestIdentifier: request,
                ledger: LedgerRequest(
                    app: Sample.production, holders: [.originalTransactionID(Sample.id("1"))], offers: [offer],
                    reserving: .first, at: Sample.day(3)),
                forms: [.init(signature: .v2, messageIdentifier: message)]))
        _ = try await store.retentionOffer(for: request, in: Sample.production, at: Sample.day(3))
        try await store.record(Sample.shown(1), in: Sample.production)
        _ = try await store.retentionShown(about: [Sample.id("1")], in: Sample.production)
        try await store.pruneRetentionOffers(before: Sample.day(2))
        try await keyedRequests(store)
        _ = try await store.record(
            [
                OfferEventReport(
                    kind: .shown, offer: .named(Sample.account(1), ids.0, ids.1), at: Sample.day(1)),
                OfferEventReport(kind: .failed, offer: .signed(offer.nonces[0]), at: Sample.day(1)),
            ], of: Sample.production, onlyOf: nil)
    }

    private static func keyedRequests(_ store: any SubscriberStore) async throws {
        let request = IdempotentRequest(id: [1], digest: [2])
        let claims = (1...3).map { IdempotentRequest.Claim(request, owner: UUIDText(high: 1, low: $0)) }
        let offer = Sample.offer("keyed", nonces: [4711], expiresAt: 99)
        for (claim, day) in zip(claims, [1, 2, 3]) {
            _ = try await store.claim(claim, at: Sample.day(1), until: Sample.day(Double(day)))
        }
        _ = try await store.reserve(
            LedgerRequest(
                app: Sample.production, holders: [Sample.account(1)], offers: [offer], reserving: .all,
                at: Sample.day(1), claim: claims[0]))
        _ = try await store.claim(claims[1], at: Sample.day(1) + .seconds(1), until: Sample.day(1) + .seconds(2))
        _ = try await store.keep(IdempotentRequest.Answer(status: 200, body: []), of: claims[1])
        _ = try await store.claim(claims[2], at: Sample.day(1) + .seconds(1), until: Sample.day(2))
        try await store.release(claims[1])
        _ = try await store.pruneIdempotentRequests(before: Sample.day(3), limit: 10)
    }

    private static func customers(_ store: any SubscriberStore) async throws {
        let username = CustomerIdentifier.applicationUsername(Sample.text("u"))
        try await store.link(username, to: Sample.account(1).account, in: Sample.production, at: Sample.day(0))
        try await store.setTeamFacts(
            [Sample.text("a"): .bool(true), Sample.text("b"): nil], of: username, in: Sample.production,
            tracking: [Sample.text("a")], at: Sample.day(0))
        let identifiers: [CustomerIdentifier] = [
            username, Sample.account(1), .transactionID(Sample.id("9")), .originalTransactionID(Sample.id("1")),
            .appTransactionID(Sample.id("1")),
        ]
        for identifier in identifiers {
            _ = try await store.customers(known: identifier, bundleID: Sample.bundleID, environment: nil)
        }
        try await store.link(username, to: nil, in: Sample.production, at: Sample.day(0))
    }

    private static func background(_ store: any SubscriberStore) async throws {
        let outcomes: [ForwardOutcome] = [.failed(nextAttempt: Sample.day(1)), .dead(at: Sample.day(1)), .delivered]
        for outcome in outcomes {
            let forwards = try await store.claimForwards(
                to: "https://a.example", dueAt: Sample.day(2), leaseEnd: Sample.day(2), limit: 1)
            for forward in forwards { try await store.settle(forward.id, outcome) }
        }
        _ = try await store.deadLetters(after: nil, limit: 9)
        _ = try await store.countDueSubscriptions(of: Sample.production, dueBefore: Sample.day(99), limit: 9)
        let due = try await store.claimDueSubscriptions(
            of: Sample.production, dueBefore: Sample.day(99), nextDueAt: Sample.day(100), limit: 9)
        try await store.settle(due.map { SettledClaim($0, dueAt: Sample.day(101)) })
        let payloads = try await store.payloads(after: nil, limit: 9)
        _ = try await store.rederive(payloads.map { Sample.reread($0, Sample.facts(1)) })
        _ = try await store.prunePayloads(receivedBefore: Sample.day(1), limit: 1)
        _ = try await (store.intakes(), store.receivers())
    }
}
