import AppStoreAPI
import AppStoreData
import OfferCore
import SubscriberStore

/// Gathers what a decision rests on: proofs, the store, and the App Store where those two know too little.
struct CustomerGathering {
    let store: CurrentStore
    /// nil if the App Store is not asked.
    let refresher: CustomerRefresher?

    /// - Parameter configured: the app in the catalogue.
    func gather(
        _ subject: DecisionSubject, _ configured: Catalogue.App, at now: Timestamp
    ) async throws(Problem) -> DecisionCustomer {
        let newFacts = try subject.facts(at: now)
        var known = try await stored(subject)
        let lookUp = await lookUp(subject, known, configured, at: now)
        if lookUp != .notNeeded { known = try await stored(subject) }
        let app = try scope(of: subject, known, configured)
        try await requireOwnTransaction(of: subject, known, in: app, configured)
        return try DecisionCustomer(
            subject, in: app, configured, stored: known.first { $0.app == app }, newFacts: newFacts, lookUp, at: now)
    }

    /// Everything that may belong to the customer, for each environment.
    private func stored(_ subject: DecisionSubject) async throws(Problem) -> [StoredCustomer] {
        let environment = subject.proofs?.app?.environment ?? subject.environment
        var known: [StoredCustomer] = []
        for identifier in subject.identifiers {
            // Most often, the account leads to the subscriptions of the proofs.
            if case .originalTransactionID(let id) = identifier,
                known.contains(where: { $0.facts.contains { $0.originalTransactionID == id } })
            {
                continue
            }
            known = try await merged(known, read(identifier, of: subject, environment))
        }
        return known
    }

    private func read(
        _ identifier: CustomerIdentifier, of subject: DecisionSubject, _ environment: AppStoreEnvironment?
    ) async throws(Problem) -> [StoredCustomer] {
        do throws(StoreError) {
            return try await store.read { store async throws(StoreError) in
                try await store.customers(known: identifier, bundleID: subject.bundleID, environment: environment)
            }
        } catch { throw Problem(error) }
    }

    private func merged(_ known: [StoredCustomer], _ found: [StoredCustomer]) -> [StoredCustomer] {
        guard !known.isEmpty else { return found }
        return Dictionary(grouping: known + found, by: \.app).map { app, parts in
            StoredCustomer(
                app: app, facts: Array(SubscriberFacts(parts.flatMap(\.facts))),
                teamFacts: Array(Set(parts.flatMap(\.teamFacts))), links: Array(Set(parts.flatMap(\.links))),
                isComplete: parts.allSatisfy(\.isComplete))
        }
    }

    /// Asks the App Store about a customer whom the store does not know, or whose data is older than the app accepts, and waits
    /// for a moment.
    private func lookUp(
        _ subject: DecisionSubject, _ known: [StoredCustomer], _ configured: Catalogue.App, at now: Timestamp
    ) async -> CustomerRefresher.Outcome {
        guard let refresher, store.works else { return .notNeeded }
        let receipt = subject.proofs?.receipt.flatMap { _ in subject.proofs?.receiptText }
        let stale = known.compactMap { stored -> CustomerQuestion? in
            stored.staleSubscription(under: configured.freshness, at: now)
                .flatMap { CustomerQuestion($0, in: stored.app, receipt: receipt) }
        }
        let isKnown = subject.isKnown(by: known)
        let id =
            subject.proofs?.latestOriginalTransactionID ?? (subject.asksAboutTransaction ? subject.transactionID : nil)
        let unknown =
            isKnown
            ? []
            : subject.scopes(of: configured).compactMap { scope in
                id.flatMap { CustomerQuestion($0, in: scope, receipt: receipt) }
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

    /// Refuses a transaction that is known as another customer's. One that nobody knows is left out later.
    private func requireOwnTransaction(
        of subject: DecisionSubject, _ known: [StoredCustomer], in app: AppScope, _ configured: Catalogue.App
    ) async throws(Problem) {
        guard let id = subject.transactionID, let account = subject.account else { return }
        let inKnown = known.filter { $0.app == app && $0.facts.contains { $0.isAbout(id) } }
        let found = inKnown.isEmpty ? try await read(.transactionID(id), of: subject, app.environment) : inKnown
        for stored in found {
            let originals = stored.facts.filter { $0.isAbout(id) }.map(\.originalTransactionID)
            if OwnedCustomer.isAnothers(Set(originals), stored, account, by: configured.ownership) {
                throw .anotherCustomersTransaction
            }
        }
    }
}

extension SubscriberFact {
    /// Whether the fact is about a transaction or its subscription.
    fileprivate func isAbout(_ id: TransactionID) -> Bool { key.id == id || originalTransactionID == id }
}

extension DecisionSubject {
    /// A receipt can have thousands of purchases. One look-up leads to all of an Apple Account's.
    private static let maximumLookups = 20

    /// The names under which the store may know the customer. A transaction ID without a proof is none, unless what is signed is
    /// bound to it.
    fileprivate var identifiers: [CustomerIdentifier] {
        let proven = proofs?.originalTransactionIDs ?? []
        let bound = isNamedByTransaction ? transactionID : nil
        return [account.map(CustomerIdentifier.init)].compactMap(\.self)
            + (bound.map { [.transactionID($0), .appTransactionID($0)] } ?? [])
            + proven.sorted { $0.precedes($1) }.prefix(Self.maximumLookups).map(
                CustomerIdentifier.originalTransactionID)
    }

    /// Whether the store knows enough not to ask the App Store: of everything that the proofs show, and, for a signature that is
    /// bound to a transaction, the whole history.
    fileprivate func isKnown(by known: [StoredCustomer]) -> Bool {
        let facts = known.flatMap(\.facts)
        if isNamedByTransaction { return facts.contains { $0.key.kind == .wholeHistory } }
        let originals = Set(facts.map(\.originalTransactionID))
        return !facts.isEmpty && (proofs?.originalTransactionIDs.isSubset(of: originals) ?? true)
    }

    /// What the proofs show. They must be of one Apple Account.
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

    /// The environments in question, production first.
    fileprivate func scopes(of configured: Catalogue.App) -> [AppScope] {
        let environments = proofs?.app.map { [$0.environment] } ?? environment.map { [$0] } ?? AppStoreEnvironment.known
        return environments.filter(configured.environments.contains).map {
            AppScope(bundleID: bundleID, environment: $0)
        }
    }
}
