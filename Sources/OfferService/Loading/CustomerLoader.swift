import AppStoreAPI
import AppStoreData
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// The loader of everything that a decision is based on: proofs, stored data and, if these are insufficient, answers of
/// the App Store.
struct CustomerLoader: Sendable {
    let store: CurrentStore
    /// nil if the App Store is not queried.
    let refresher: RefreshQueue?

    /// - Parameters:
    ///   - configured: the app in the catalogue.
    ///   - needsHistory: returns true if the decision depends on an incomplete history, which is then requested from
    ///     the App Store.
    func load(
        _ customer: NamedCustomer, _ configured: Catalogue.App, at now: Timestamp,
        needsHistory: (CustomerFacts) -> Bool
    ) async throws(Problem) -> EvaluatedCustomer {
        let newFacts = try customer.facts(at: now)
        var refreshes = RefreshOutcomes()
        var known = try await stored(customer, configured)
        refreshes.customer = await refresh(customer, known, configured, at: now)
        if refreshes.customer != .notNeeded { known = try await stored(customer, configured) }
        let app = try scope(of: customer, known, configured)
        try await requireOwnTransaction(of: customer, known, in: app, configured)
        if customer.isBoundToTransaction, let id = customer.transactionID {
            refreshes.isEmpty = refresher?.saysEmpty(id, in: app) ?? false
        }
        let found = try EvaluatedCustomer(
            customer, in: app, configured, stored: known.first { $0.app == app }, newFacts: newFacts, refreshes, at: now
        )
        guard let refresher, !found.gaps.isEmpty, needsHistory(found.facts) else { return found }
        let receipt = customer.receiptText
        refreshes.history = await refresher.refresh(
            found.gaps.prefix(Self.maximumRefreshes).compactMap { RefreshRequest($0, in: app, receipt: receipt) })
        known = try await stored(customer, configured)
        return try EvaluatedCustomer(
            customer, in: app, configured, stored: known.first { $0.app == app }, newFacts: newFacts, refreshes, at: now
        )
    }

    /// Loads the customer of a subscription that the App Store names, without waiting for the App Store. If the store's
    /// data is missing or too old, a refresh starts in the background.
    /// - Returns: nil for a customer whom the store does not know.
    func load(
        subscription original: TransactionID, in app: AppScope, _ configured: Catalogue.App, at now: Timestamp
    ) async throws(Problem) -> EvaluatedCustomer? {
        let known: [StoredCustomer]
        do throws(StoreError) {
            known = try await store.customers(
                known: .originalTransactionID(original), bundleID: app.bundleID, environment: app.environment)
        } catch { throw Problem(error) }
        guard let stored = known.first(where: { $0.app == app }),
            stored.facts.contains(where: { $0.originalTransactionID == original })
        else {
            refreshLater(original, in: app)
            return nil
        }
        let stale = stored.staleSubscriptions(under: configured.freshness, at: now).first
        if let stale { refreshLater(stale, in: app) }
        let name = NamedCustomer.Name(
            bundleID: app.bundleID, identity: .subscription(original), environment: app.environment)
        // Data that is older than the app accepts says nothing about the current state.
        return try EvaluatedCustomer(
            NamedCustomer(name, proofs: nil, unprovenRefresh: .always), in: app, configured, stored: stored,
            newFacts: [],
            RefreshOutcomes(customer: stale == nil ? .notNeeded : .unanswered), at: now)
    }

    private func refreshLater(_ id: TransactionID, in app: AppScope) {
        if let refresher, let request = RefreshRequest(id, in: app) { refresher.refreshLater(request) }
    }

    /// Starts a background refresh of the customer in the proofs if the store does not know the customer, or if its
    /// data is old.
    func refreshLater(
        _ proofs: VerifiedProofs, of app: AppScope, _ configured: Catalogue.App?, at now: Timestamp
    ) async {
        guard let refresher, store.store != nil, let original = proofs.latestOriginalTransactionID,
            let request = RefreshRequest(original, in: app, receipt: proofs.receipt.map { _ in proofs.receiptText })
        else { return }
        let known = try? await store.customers(
            known: .originalTransactionID(original), bundleID: app.bundleID, environment: app.environment)
        guard let known else { return }
        if known.isEmpty
            || known.contains(where: { !$0.staleSubscriptions(under: configured?.freshness, at: now).isEmpty })
        {
            refresher.refreshLater(request)
        }
    }

    /// The maximum number of histories, and of stale subscriptions in each environment, that one request waits for.
    private static let maximumRefreshes = 4

    /// Loads everything that may belong to the customer, in each environment.
    private func stored(
        _ customer: NamedCustomer, _ configured: Catalogue.App
    ) async throws(Problem) -> [StoredCustomer] {
        do throws(StoreError) {
            return try await read(
                customer.query, of: customer, customer.proofs?.app?.environment ?? customer.environment)
        } catch {
            guard error.kind == .unreadable else { throw Problem(error) }
        }
        // If a row cannot be read, no decision about this customer is possible. Other customers are still served.
        var known: [StoredCustomer] = []
        for app in customer.scopes(of: configured) {
            do throws(StoreError) { known += try await read(customer.query, of: customer, app.environment) } catch {
                guard error.kind == .unreadable else { throw Problem(error) }
                known.append(StoredCustomer(unknownIn: app, isComplete: false))
            }
        }
        return known
    }

    private func read(
        _ query: CustomerQuery, of customer: NamedCustomer, _ environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer] {
        try await store.customers(query, bundleID: customer.bundleID, environment: environment)
    }

    /// Refreshes a customer whom the store does not know, or whose data is older than the app accepts. The wait is
    /// limited.
    private func refresh(
        _ customer: NamedCustomer, _ known: [StoredCustomer], _ configured: Catalogue.App, at now: Timestamp
    ) async -> RefreshQueue.Outcome {
        guard let refresher else { return .notNeeded }
        let receipt = customer.receiptText
        let stale = known.flatMap { stored in
            stored.staleSubscriptions(under: configured.freshness, at: now).prefix(Self.maximumRefreshes)
                .compactMap { RefreshRequest($0, in: stored.app, receipt: receipt) }
        }
        guard !customer.isKnown(by: known) else { return await refresher.refresh(stale) }
        // A signature that is bound to a transaction counts for that transaction's Apple Account.
        let proven =
            customer.isBoundToTransaction ? customer.shownTransaction : customer.proofs?.latestOriginalTransactionID
        let asked = proven ?? (customer.unprovenRefresh == .never ? nil : customer.transactionID)
        let unknown = customer.scopes(of: configured).compactMap { scope in
            asked.flatMap { id in
                RefreshRequest(
                    id, in: scope, receipt: receipt,
                    isUnproven: proven == nil && customer.unprovenRefresh == .withinBudget)
            }
        }
        return await refresher.refresh(stale + unknown)
    }

    /// Returns the app and environment that the decision is about.
    private func scope(
        of customer: NamedCustomer, _ known: [StoredCustomer], _ configured: Catalogue.App
    ) throws(Problem) -> AppScope {
        if let proven = customer.proofs?.app {
            if let named = customer.environment, named != proven.environment {
                throw .proofRefused("proofs", DataRefusal(.severalEnvironments))
            }
            return proven
        }
        let possible = customer.scopes(of: configured)
        guard !possible.isEmpty else {
            let names = configured.environments.map(\.rawValue).sorted()
            throw .invalidField(FieldError(field: "environment", reason: .notOneOf(names)))
        }
        let inUse = possible.filter { scope in known.contains { $0.app == scope } }
        guard inUse.count <= 1 else { throw .environmentNeeded }
        return inUse.first ?? possible[0]
    }

    /// Refuses a transaction known to belong to another customer. An unknown transaction is left out later.
    private func requireOwnTransaction(
        of customer: NamedCustomer, _ known: [StoredCustomer], in app: AppScope, _ configured: Catalogue.App
    ) async throws(Problem) {
        guard let id = customer.transactionID, let account = customer.account else { return }
        let inKnown = known.filter { $0.app == app && $0.facts.contains { $0.isAbout(id) } }
        let found: [StoredCustomer]
        do throws(StoreError) {
            found =
                inKnown.isEmpty
                ? try await read(CustomerQuery(.transactionID(id)), of: customer, app.environment) : inKnown
        } catch {
            guard error.kind == .unreadable else { throw Problem(error) }
            return
        }
        for stored in found {
            let originals = stored.facts.filter { $0.isAbout(id) }.map(\.originalTransactionID)
            if CustomerPurchases.isAnothers(
                Set(originals), of: account, in: stored.facts, links: stored.links, by: configured.ownership)
            {
                throw .anotherCustomersTransaction
            }
        }
    }
}

extension SubscriberFact {
    /// Returns true if the fact is about a transaction or its subscription.
    fileprivate func isAbout(_ id: TransactionID) -> Bool { key.id == id || originalTransactionID == id }
}

extension NamedCustomer {
    /// The names under which the store may know the customer, and everything that the proofs show. An unproven
    /// transaction ID is included only if the signature is bound to it.
    fileprivate var query: CustomerQuery {
        let shown =
            [proofs?.appTransaction?.payload.appTransactionID].compactMap(\.self)
            + (proofs?.transactions.compactMap(\.payload.appTransactionID) ?? [])
        let bound = isBoundToTransaction ? [transactionID].compactMap(\.self) : []
        let isNamed = isBoundToTransaction || account != nil || proofs == nil
        return CustomerQuery(
            isNamed ? identifier : nil,
            purchases: proofs?.originalTransactionIDs ?? [], appleAccounts: Set(shown + bound))
    }

    /// The transaction that names the customer, if the proofs show it.
    fileprivate var shownTransaction: TransactionID? {
        guard let proofs, let transactionID else { return nil }
        let isShown =
            proofs.originalTransactionIDs.contains(transactionID)
            || proofs.transactions.contains { $0.payload.transactionID == transactionID }
            || proofs.appTransaction?.payload.appTransactionID == transactionID
        return isShown ? transactionID : nil
    }

    /// The receipt as signed, for refreshing the customer.
    fileprivate var receiptText: [UInt8]? { proofs?.receipt.flatMap { _ in proofs?.receiptText } }

    /// Returns true if the store knows enough: everything that the proofs show or, for a signature bound to a
    /// transaction, the whole history. In that case, the App Store is not queried.
    fileprivate func isKnown(by known: [StoredCustomer]) -> Bool {
        let facts = known.flatMap(\.facts)
        if isBoundToTransaction { return facts.contains { $0.key.kind == .wholeHistory } }
        let originals = Set(facts.map(\.originalTransactionID))
        return !facts.isEmpty && (proofs?.originalTransactionIDs.isSubset(of: originals) ?? true)
    }

    /// Returns the facts that the proofs show. The facts must belong to one Apple Account.
    fileprivate func facts(at now: Timestamp) throws(Problem) -> [SubscriberFact] {
        guard let proofs else { return [] }
        let facts: [SubscriberFact]
        do { facts = try proofs.facts(at: now) } catch { throw .signingUnavailable }
        let accounts = facts.map(\.appTransactionID) + [proofs.appTransaction?.payload.appTransactionID]
        guard Set(accounts.compactMap(\.self)).count <= 1 else {
            throw .proofRefused("proofs", DataRefusal(.severalAppleAccounts))
        }
        return facts
    }

    /// Returns the possible environments, production first.
    fileprivate func scopes(of configured: Catalogue.App) -> [AppScope] {
        let environments = proofs?.app.map { [$0.environment] } ?? environment.map { [$0] } ?? AppStoreEnvironment.known
        return environments.filter(configured.environments.contains).map {
            AppScope(bundleID: bundleID, environment: $0)
        }
    }
}
