import AppStoreAPI
import AppStoreData
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// Gathers everything that a decision rests on: proofs, stored data, and answers of the App Store if those two are
/// insufficient.
struct CustomerGathering {
    let store: CurrentStore
    /// nil if the App Store is not queried.
    let refresher: CustomerRefresher?

    /// - Parameters:
    ///   - configured: the app in the catalogue.
    ///   - needsHistory: returns true if the decision depends on an incomplete history, which is then requested from
    ///     the App Store.
    func gather(
        _ subject: DecisionSubject, _ configured: Catalogue.App, at now: Timestamp,
        needsHistory: (CustomerFacts) -> Bool
    ) async throws(Problem) -> DecisionCustomer {
        let newFacts = try subject.facts(at: now)
        var lookUp = DecisionLookUp()
        var known = try await stored(subject, configured)
        lookUp.customer = await refresh(subject, known, configured, at: now)
        if lookUp.customer != .notNeeded { known = try await stored(subject, configured) }
        let app = try scope(of: subject, known, configured)
        try await requireOwnTransaction(of: subject, known, in: app, configured)
        if subject.isNamedByTransaction, let id = subject.transactionID {
            lookUp.isEmpty = refresher?.saysEmpty(id, in: app) ?? false
        }
        let found = try DecisionCustomer(
            subject, in: app, configured, stored: known.first { $0.app == app }, newFacts: newFacts, lookUp, at: now)
        guard let refresher, !found.gaps.isEmpty, needsHistory(found.facts) else { return found }
        let receipt = subject.receiptText
        lookUp.history = await refresher.refresh(
            found.gaps.prefix(Self.maximumQuestions).compactMap { CustomerQuestion($0, in: app, receipt: receipt) })
        known = try await stored(subject, configured)
        return try DecisionCustomer(
            subject, in: app, configured, stored: known.first { $0.app == app }, newFacts: newFacts, lookUp, at: now)
    }

    /// The maximum number of histories, and of stale subscriptions in each environment, that one request waits for.
    private static let maximumQuestions = 4

    /// Everything that may belong to the customer, for each environment.
    private func stored(
        _ subject: DecisionSubject, _ configured: Catalogue.App
    ) async throws(Problem) -> [StoredCustomer] {
        do throws(StoreError) {
            return try await read(subject.query, of: subject, subject.proofs?.app?.environment ?? subject.environment)
        } catch {
            guard error.kind == .unreadable else { throw Problem(error) }
        }
        // If a row cannot be read, nothing can be said about this customer. Everyone else is served.
        var known: [StoredCustomer] = []
        for app in subject.scopes(of: configured) {
            do throws(StoreError) { known += try await read(subject.query, of: subject, app.environment) } catch {
                guard error.kind == .unreadable else { throw Problem(error) }
                known.append(StoredCustomer(app: app, facts: [], teamFacts: [], links: [], isComplete: false))
            }
        }
        return known
    }

    private func read(
        _ query: CustomerQuery, of subject: DecisionSubject, _ environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer] {
        try await store.read { store async throws(StoreError) in
            try await store.customers(query, bundleID: subject.bundleID, environment: environment)
        }
    }

    /// Refreshes a customer whom the store does not know, or whose data is older than the app accepts. The wait is limited.
    private func refresh(
        _ subject: DecisionSubject, _ known: [StoredCustomer], _ configured: Catalogue.App, at now: Timestamp
    ) async -> CustomerRefresher.Outcome {
        guard let refresher else { return .notNeeded }
        let receipt = subject.receiptText
        let stale = known.flatMap { stored in
            stored.staleSubscriptions(under: configured.freshness, at: now).prefix(Self.maximumQuestions)
                .compactMap { CustomerQuestion($0, in: stored.app, receipt: receipt) }
        }
        guard !subject.isKnown(by: known) else { return await refresher.refresh(stale) }
        // A signature that is bound to a transaction is about that transaction's Apple Account.
        let proven =
            subject.isNamedByTransaction ? subject.shownTransaction : subject.proofs?.latestOriginalTransactionID
        let asked = proven ?? (subject.asking == .never ? nil : subject.transactionID)
        let unknown = subject.scopes(of: configured).compactMap { scope in
            asked.flatMap { id in
                CustomerQuestion(
                    id, in: scope, receipt: receipt, isUnproven: proven == nil && subject.asking == .withinBudget)
            }
        }
        return await refresher.refresh(stale + unknown)
    }

    /// The app and environment that the decision is about.
    private func scope(
        of subject: DecisionSubject, _ known: [StoredCustomer], _ configured: Catalogue.App
    ) throws(Problem) -> AppScope {
        if let proven = subject.proofs?.app {
            if let named = subject.environment, named != proven.environment {
                throw .proofRefused("proofs", DataRefusal(.severalEnvironments))
            }
            return proven
        }
        let possible = subject.scopes(of: configured)
        guard !possible.isEmpty else {
            let names = configured.environments.map(\.rawValue).sorted()
            throw .invalidField(FieldError(field: "environment", reason: .notOneOf(names)))
        }
        let inUse = possible.filter { scope in known.contains { $0.app == scope } }
        guard inUse.count <= 1 else { throw .environmentNeeded }
        return inUse.first ?? possible[0]
    }

    /// Refuses a transaction known to be another customer's. An unknown one is left out later.
    private func requireOwnTransaction(
        of subject: DecisionSubject, _ known: [StoredCustomer], in app: AppScope, _ configured: Catalogue.App
    ) async throws(Problem) {
        guard let id = subject.transactionID, let account = subject.account else { return }
        let inKnown = known.filter { $0.app == app && $0.facts.contains { $0.isAbout(id) } }
        let found: [StoredCustomer]
        do throws(StoreError) {
            found =
                inKnown.isEmpty
                ? try await read(CustomerQuery(.transactionID(id)), of: subject, app.environment) : inKnown
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
    /// True if the fact is about a transaction or its subscription.
    fileprivate func isAbout(_ id: TransactionID) -> Bool { key.id == id || originalTransactionID == id }
}

extension DecisionSubject {
    /// The names under which the store may know the customer, and everything that the proofs show. A transaction ID
    /// without a proof counts only if the signature is bound to it.
    fileprivate var query: CustomerQuery {
        let shown =
            [proofs?.appTransaction?.payload.appTransactionID].compactMap(\.self)
            + (proofs?.transactions.compactMap(\.payload.appTransactionID) ?? [])
        let bound = isNamedByTransaction ? [transactionID].compactMap(\.self) : []
        return CustomerQuery(
            isNamedByTransaction || account != nil ? identifier : nil,
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

    /// The receipt as signed, for refreshing its customer.
    fileprivate var receiptText: [UInt8]? { proofs?.receipt.flatMap { _ in proofs?.receiptText } }

    /// True if the store knows enough: everything that the proofs show or, for a signature bound to a transaction, the
    /// whole history. The App Store is then not queried.
    fileprivate func isKnown(by known: [StoredCustomer]) -> Bool {
        let facts = known.flatMap(\.facts)
        if isNamedByTransaction { return facts.contains { $0.key.kind == .wholeHistory } }
        let originals = Set(facts.map(\.originalTransactionID))
        return !facts.isEmpty && (proofs?.originalTransactionIDs.isSubset(of: originals) ?? true)
    }

    /// The facts that the proofs show. They must be of one Apple Account.
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

    /// The possible environments, production first.
    fileprivate func scopes(of configured: Catalogue.App) -> [AppScope] {
        let environments = proofs?.app.map { [$0.environment] } ?? environment.map { [$0] } ?? AppStoreEnvironment.known
        return environments.filter(configured.environments.contains).map {
            AppScope(bundleID: bundleID, environment: $0)
        }
    }
}
