package import OfferCore
import OfferCrypto
package import OfferEligibility
package import SubscriberStore

/// Makes the reviews of an app's customers.
package struct CustomerReviewer: Sendable {
    private let store: any SubscriberStore
    private let app: AppScope
    private let configured: Catalogue.App
    private let dates: ReviewDates

    package init(_ store: any SubscriberStore, of app: AppScope, _ configured: Catalogue.App) {
        self.store = store
        self.app = app
        self.configured = configured
        dates = ReviewDates(configured, in: app.environment)
    }

    /// Makes the review of a subscription's customers and records it, with its events. A customer is reviewed with the first
    /// subscription only.
    /// - Returns: the kinds of the new events; nil if the customer's records changed meanwhile, so that the review is made
    ///   again.
    package func review(_ due: DueReview, at now: Timestamp) async throws -> [CustomerEvent.Kind]? {
        let before = try due.states.map { json throws(StoreError) in try ReviewStates(json: json) }
        let possible = try await store.customers(in: app, numbered: due.subscription...due.subscription)
        let original = possible.first?.originalTransactionID
        let customers = possible.compactMap { possible in
            OwnedCustomer(possible.customer, known: possible.identifier, by: configured.ownership).map {
                Candidate(account: Self.name(of: possible.identifier), identifier: possible.identifier, customer: $0)
            }
        }
        let represented = customers.filter { original != nil && $0.customer.firstSubscription == original }
        let present = Set(represented.map(\.account))
        var found: [String: ReviewState] = [:]
        var next: [Timestamp] = []
        var kinds: [CustomerEvent.Kind] = []
        var events: [SettledReview.Event] = []
        var wait: Timestamp?
        for candidate in represented {
            let (account, customer) = (candidate.account, candidate.customer)
            let ledger = try await store.ledgerEntries(of: customer.holders, in: app)
            if let end = CustomerEvent.wait(for: ledger.own(by: customer).authorisations, at: now) {
                wait = max(wait ?? end, end)
                continue
            }
            let states = before ?? ReviewStates([:])
            let elsewhere =
                states.byAccount[account] == nil ? try await state(of: account, customer, besides: original) : nil
            let names = Set(customer.purchases.accounts.map { Self.name(of: CustomerIdentifier($0)) })
            let review = try await review(
                customer, ledger, due,
                after: states.state(of: account, named: names, among: present, elsewhere: elsewhere), at: now)
            found[account] = review.state
            next.append(review.next)
            for event in review.events where configured.events.kinds.contains(event.kind) {
                let sent = SentEvent(event: event, app: app, account: account, customer: customer)
                let id = try sent.id
                events.append(SettledReview.Event(id: id, body: sent.body(id)))
                kinds.append(event.kind)
            }
        }
        // Representatives do not remind each other in turn.
        let isForwarded = due.isChanged || represented.isEmpty
        let others = Set(customers.compactMap(\.customer.firstSubscription)).filter { $0 != original && isForwarded }
        // While one customer waits, nothing is recorded about any of them.
        let after = represented.isEmpty ? nil : ReviewStates(found)
        let settled = SettledReview(
            due, of: original, states: wait == nil ? after : before, next: wait ?? next.min(),
            events: wait == nil ? events : [], receivers: configured.events.receivers,
            representatives: others.sorted { $0.precedes($1) },
            departures: wait == nil ? departures(from: before, customers, present: present, isLast: found.isEmpty) : [],
            at: now)
        return try await store.settle(settled) ? (wait == nil ? kinds : []) : nil
    }

    /// A customer of a subscription.
    private struct Candidate {
        /// The key in ``ReviewStates``.
        let account: String
        let identifier: CustomerIdentifier
        let customer: OwnedCustomer
    }

    /// Returns the accounts that a subscription represented and represents no longer.
    /// - Parameter isLast: true if it no longer represents any customer. The state of a customer without a name then moves to the
    ///   first representative.
    private func departures(
        from before: ReviewStates?, _ customers: [Candidate], present: Set<String>, isLast: Bool
    ) -> [SettledReview.Departure] {
        let representatives = customers.compactMap(\.customer.firstSubscription).sorted { $0.precedes($1) }
        return (before?.byAccount ?? [:]).filter { !present.contains($0.key) }.compactMap { account, state in
            let candidate = customers.first { $0.account == account }
            let target = candidate?.customer.firstSubscription ?? (isLast ? representatives.first : nil)
            let named = candidate.flatMap { $0.identifier.account == nil ? nil : $0.identifier }
            return target.map { SettledReview.Departure(account, named, state, to: $0) }
        }
    }

    /// A short text for an account, which names nobody.
    private static func name(of identifier: CustomerIdentifier) -> String {
        guard identifier.account != nil else { return "" }
        return (try? SHA256.hash(identifier.utf8)).map { Hexadecimal.text(of: Array($0.prefix(8))) } ?? ""
    }

    /// Returns the state that reviews of the customer's other subscriptions found for an account. One of them represented
    /// the customer before this one was known to be older, or to be the customer's.
    private func state(
        of account: String, _ customer: OwnedCustomer, besides original: TransactionID?
    ) async throws(StoreError) -> ReviewState? {
        let others = Set(customer.facts.map(\.originalTransactionID)).filter { $0 != original }
        return others.isEmpty ? nil : try await store.reviewStates(of: others, in: app).byAccount[account]
    }

    private func review(
        _ customer: OwnedCustomer, _ ledger: LedgerEntries, _ due: DueReview, after before: ReviewState?,
        at now: Timestamp
    ) async throws(StoreError) -> CustomerReview {
        let state = customer.state(in: configured, at: now)
        let own = ledger.own(by: customer)
        let recorded = CustomerEvent.recorded(
            of: customer, state, customer.periods(in: configured), own.authorisations,
            try await redemptions(in: own), openings: try await openings(of: customer.grants), at: now)
        return CustomerReview(
            eligible: try await eligible(customer, at: now), recorded: recorded, after: before, since: due.since,
            isNew: due.isNew, exposures: customer.exposures, dates: dates.of(customer, state, ledger),
            delay: .random(in: 0...1), at: now)
    }

    /// Returns the offers that the customer may have, as a decision without a placement says. The `total` of an offer is not
    /// checked, because it changes for all customers at once.
    private func eligible(_ customer: OwnedCustomer, at now: Timestamp) async throws(StoreError) -> [OfferTerms] {
        guard customer.isComplete else { return [] }
        let facts = CustomerFacts(customer, in: configured, at: now).granting(customer.grants)
        let offers = configured.rules.decide(facts, at: now).filter(\.isEligible).map(\.offer)
        guard !offers.isEmpty else { return [] }
        let request = LedgerRequest(
            app: app, holders: customer.holders,
            offers: offers.map { offer in
                LedgerRequest.Offer(
                    productID: offer.productID, offerID: offer.offerID, limits: offer.limits.withoutTotal, nonces: [],
                    expiresAt: now, grant: offer.grant)
            }, reserving: .nothing, at: now)
        let answers = try await store.reserve(request)
        return zip(offers, answers).compactMap { offer, answer in
            if case .refused = answer { nil } else { offer }
        }
    }

    private func redemptions(in ledger: LedgerEntries) async throws(StoreError) -> [CountedRedemption] {
        let unexplained = ledger.redemptions.filter { $0.authorisedAt == nil }
        let alarms = unexplained.isEmpty ? [] : try await store.alarms(among: unexplained, in: app)
        return ledger.redemptions.compactMap { redemption in
            redemption.originalTransactionID.map { original in
                CountedRedemption(
                    ordinal: redemption.ordinal, originalTransactionID: original, productID: redemption.productID,
                    offerID: redemption.offerID, at: redemption.at, firstAt: redemption.firstAt,
                    isAlarm: alarms.contains(redemption.number), rule: redemption.rule)
            }
        }
    }

    /// Returns the times at which personal links were first opened, by the IDs of their grants.
    private func openings(of grants: [OfferGrant]) async throws(StoreError) -> [UUIDText: Timestamp] {
        var times: [UUIDText: Timestamp] = [:]
        for grant in grants {
            guard let id = MailedLink.id(of: grant) else { continue }
            times[grant.id] = try await store.link(id, in: app)?.claimedAt
        }
        return times
    }
}

extension LedgerEntries {
    fileprivate func own(by customer: OwnedCustomer) -> LedgerEntries { own(by: Set(customer.purchases.ownHolders)) }
}

extension ReviewDates {
    fileprivate func of(_ customer: OwnedCustomer, _ state: SubscriberState, _ ledger: LedgerEntries) -> [Timestamp] {
        of(customer, state, ledger.authorisations, redemptions: ledger.redemptions.flatMap { [$0.at, $0.firstAt] })
    }
}
