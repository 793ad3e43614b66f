package import OfferCore
package import OfferEligibility
package import SubscriberStore
package import SubscriberSync

/// The grants of offers to single customers, for the API and the console. It checks what a person wants; the caller
/// records each act in the audit trail before it takes effect.
///
/// ```
/// prepare ─▶ (audit) ─▶ make        grant ─▶ (audit) ─▶ approve or withdraw
/// ```
package struct GrantDesk: Sendable {
    let store: CurrentStore
    let directory: CustomerDirectory
    let makeNonce: @Sendable () -> Nonce
    let metrics: ServiceMetrics
    /// False if there is no audit trail. Then nothing is granted or approved.
    let isAudited: Bool

    init(
        store: CurrentStore, directory: CustomerDirectory, makeNonce: @escaping @Sendable () -> Nonce,
        metrics: ServiceMetrics, isAudited: Bool
    ) {
        self.store = store
        self.directory = directory
        self.makeNonce = makeNonce
        self.metrics = metrics
        self.isAudited = isAudited
    }

    /// Creates a desk outside the service, which does not query the App Store.
    package init(
        store: CurrentStore, makeNonce: @escaping @Sendable () -> Nonce, now: @escaping @Sendable () -> Timestamp,
        isAudited: Bool
    ) {
        self.init(
            store: store, directory: CustomerDirectory(store: store, refresher: nil, now: now), makeNonce: makeNonce,
            metrics: ServiceMetrics(), isAudited: isAudited)
    }

    /// Checks an order against the app's configuration, and finds its customer.
    package func prepare(
        _ order: GrantOrder, by person: OfferGrant.Person, of app: Catalogue.App, at now: Timestamp
    ) async throws(Problem) -> GrantRequest {
        let policy = try policy(of: app)
        guard let terms = app.rules.terms(of: order.productID, order.offerID) else { throw .notGrantable }
        guard policy.reasons.contains(order.purpose.reason) else {
            throw .invalidField(FieldError(field: "reason", reason: .notOneOf(policy.reasons)))
        }
        let expiresAt = order.expiresAt ?? now + policy.lifetime
        guard expiresAt > now, expiresAt <= now + GrantPolicy.maximumLifetime else { throw .grantLifetime }
        let customer = try await customer(order.customer, of: app)
        guard let subject = customer.grantedAs else { throw .unknownCustomer }
        let grant = OfferGrant(
            id: makeNonce().uuid, subject: .customer(subject), account: customer.account, productID: terms.productID,
            offerID: terms.offerID, purpose: order.purpose, liftsLimits: order.liftsLimits, maker: person, at: now,
            expiresAt: expiresAt, approval: .notNeeded)
        return GrantRequest(
            app: customer.app, grant: grant, names: customer.recordNames.union([subject]),
            accounts: customer.purchases.accounts, holders: customer.holders, budget: policy.dailyBudget,
            budgetStart: now.startOfDay)
    }

    private func policy(of app: Catalogue.App?) throws(Problem) -> GrantPolicy {
        guard let policy = app?.rules.grants else { throw .grantsNotConfigured }
        guard isAudited else { throw .grantsNotAudited }
        return policy
    }

    private func customer(
        _ reference: CustomerReference, of app: Catalogue.App
    ) async throws(Problem) -> OwnedCustomer {
        let found = try await directory.find(reference, of: app).customers.map(\.owned).filter {
            app.environments.contains($0.app.environment)
                && (reference.environment.map { [$0] } ?? AppStoreEnvironment.known).contains($0.app.environment)
        }
        guard let customer = found.first else { throw .unknownCustomer }
        guard found.count == 1 else { throw .environmentNeeded }
        return customer
    }

    /// Makes a prepared grant.
    /// - Returns: the grant, which may wait for approval.
    package func make(_ request: GrantRequest) async throws(Problem) -> OfferGrant {
        let result: GrantResult
        do throws(StoreError) { result = try await store.make(request) } catch { throw Problem(error) }
        switch result {
        case .made(let grant):
            metrics.granted(grant.approval == .needed ? .waiting : .made)
            return grant
        case .exists(let grant): throw .grantExists(grant.id)
        }
    }

    /// - Parameter app: the configuration of the grant's app; nil if it has none any more.
    package func approve(
        _ stored: StoredGrant, of app: Catalogue.App?, _ act: OfferGrant.Act
    ) async throws(Problem) -> StoredGrant {
        _ = try policy(of: app)
        let change: GrantChange
        do throws(StoreError) { change = try await store.approve(stored.grant.id, act) } catch { throw Problem(error) }
        return try done(change, .approved)
    }

    package func withdraw(_ id: UUIDText, _ act: OfferGrant.Act) async throws(Problem) -> StoredGrant {
        let change: GrantChange
        do throws(StoreError) { change = try await store.withdraw(id, act) } catch { throw Problem(error) }
        return try done(change, .withdrawn)
    }

    private func done(_ change: GrantChange, _ act: ServiceMetrics.GrantAct) throws(Problem) -> StoredGrant {
        switch change {
        case .done(let grant):
            metrics.granted(act)
            return grant
        case .unknown: throw .unknownGrant
        case .tooLate: throw .grantClosed
        case .samePerson: throw .secondPersonNeeded
        }
    }

    package func grant(_ id: UUIDText) async throws(Problem) -> StoredGrant {
        let grant: StoredGrant?
        do throws(StoreError) { grant = try await store.grant(id) } catch { throw Problem(error) }
        guard let grant else { throw .unknownGrant }
        return grant
    }

    /// Returns grants of an app, the newest first.
    package func grants(
        in app: AppScope, _ selection: GrantSelection, before time: Timestamp? = nil, limit: Int
    ) async throws(Problem) -> [OfferGrant] {
        do throws(StoreError) {
            return try await store.grants(in: app, selection, before: time, limit: limit)
        } catch { throw Problem(error) }
    }

    /// Returns the number of grants that a person may still make today without approval.
    package func budget(
        of person: OfferGrant.Person, in app: AppScope, _ policy: GrantPolicy, at now: Timestamp
    ) async throws(Problem) -> Int {
        do throws(StoreError) {
            let made = try await store.grantsMade(by: person, in: app, since: now.startOfDay)
            return max(0, policy.dailyBudget - made)
        } catch { throw Problem(error) }
    }

    /// Returns the state of a grant according to the ledger.
    package func state(of stored: StoredGrant, at now: Timestamp) async throws(Problem) -> OfferGrant.State {
        let grant = stored.grant
        guard let customer = grant.subject.customer else {
            return grant.state([], isRedeemed: false, at: now)
        }
        do throws(StoreError) {
            return grant.state(try await store.ledgerEntries(of: [customer], in: stored.app), at: now)
        } catch { throw Problem(error) }
    }
}

extension OfferGrant {
    /// Returns the state of the grant according to the customer's entries in the ledger.
    package func state(_ ledger: LedgerEntries, at now: Timestamp) -> State {
        state(
            ledger.authorisations, isRedeemed: ledger.redemptions.contains { $0.uses(self) }, at: now)
    }
}

extension Timestamp {
    /// The start of the day in UTC.
    fileprivate var startOfDay: Timestamp {
        let day: Int64 = 86_400_000
        return Timestamp(milliseconds: milliseconds - ((milliseconds % day) + day) % day)
    }
}
