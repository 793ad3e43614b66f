import AppStoreData
import OfferCore
import OfferCrypto
import SubscriberStore

/// What a decision about a customer rests on.
struct DecisionCustomer {
    let app: AppScope
    let facts: CustomerFacts
    /// What the proofs show, to be merged into the store.
    let newFacts: [SubscriberFact]
    /// The account with those that are the same customer's, and each subscription. They hold what is reserved.
    let holders: [CustomerIdentifier]
    /// A transaction that is proven to be the customer's, which a JWS is bound to; nil if there is none.
    let transactionID: TransactionID?
    /// SHA-256 of everything that the facts were derived from.
    let digest: [UInt8]
}

extension DecisionCustomer {
    /// - Parameters:
    ///   - stored: what the store knows of the account and of the subscriptions in the proofs; nil for nothing.
    ///   - newFacts: what the proofs show.
    init(
        _ subject: DecisionSubject, in app: AppScope, _ configured: Catalogue.App, stored: StoredCustomer?,
        newFacts: [SubscriberFact], at now: Timestamp
    ) throws(Problem) {
        let all = StoredCustomer(
            app: app, facts: Array(SubscriberFacts((stored?.facts ?? []) + newFacts)),
            teamFacts: stored?.teamFacts ?? [], links: stored?.links ?? [], isComplete: stored?.isComplete ?? true)
        let proven = Set(newFacts.map(\.originalTransactionID))
        if let account = subject.account, OwnedCustomer.isAnothers(proven, all, account, by: configured.ownership) {
            throw .anotherCustomersProof
        }
        let owned = subject.identifier.flatMap {
            OwnedCustomer(all, known: $0, by: configured.ownership, alsoOwning: proven)
        }
        // Of a customer with more subscriptions than the store reads, nothing can be said for sure.
        let facts = all.isComplete ? owned?.facts ?? SubscriberFacts() : SubscriberFacts()
        let appTransaction = subject.proofs?.appTransaction?.payload
        let receipt = subject.proofs?.receipt?.receipt
        // An empty receipt says that nothing was bought until it was made, and not by whom.
        let isEmptyHistory =
            receipt.map { $0.purchases.isEmpty && now - $0.creationDate <= HistoryExtent.receiptAge } == true
            && all.isComplete && all.facts.isEmpty
        let state = SubscriberState(
            of: facts, environment: app.environment, groups: configured.groups,
            given: isEmptyHistory ? .whole : .partial, onlyGiven: subject.isNamedByTransaction, at: now)
        let version = appTransaction?.originalApplicationVersion ?? receipt?.originalAppVersion?.description
        self.app = app
        self.facts = CustomerFacts(
            state: state, environment: app.environment, team: owned?.teamFactsByName ?? [:],
            originalAppVersion: version.flatMap(AppVersion.init),
            originalPurchase: appTransaction?.originalPurchaseDate ?? receipt?.originalPurchaseDate)
        self.newFacts = newFacts
        // The proofs must be of the Apple Account that the signature counts for.
        if subject.isNamedByTransaction, subject.proofs != nil, let id = subject.transactionID,
            !SubscriberFacts(newFacts).contains(id), appTransaction?.appTransactionID != id
        {
            throw .anotherCustomersTransaction
        }
        holders = owned?.holders ?? []
        transactionID =
            subject.provenTransaction ?? subject.transactionID.flatMap { facts.contains($0) ? $0 : nil }
            ?? state.latestTransaction
        do { digest = try Self.digest(facts, self.facts) } catch { throw .signingUnavailable }
    }

    private static func digest(_ facts: SubscriberFacts, _ derived: CustomerFacts) throws(OpenSSLError) -> [UInt8] {
        var lines = facts.map { fact in
            "\(fact.key.kind.rawValue) \(fact.key.id.text) \(fact.signedDate.milliseconds) "
                + Hexadecimal.text(of: fact.digest)
        }
        lines += derived.team.map { name, value in "fact \(name) \(value)" }
        lines.append("environment \(derived.environment.rawValue)")
        if let version = derived.originalAppVersion { lines.append("originalAppVersion \(version)") }
        if let purchase = derived.originalPurchase { lines.append("originalPurchase \(purchase.milliseconds)") }
        return try SHA256.hash(Array(lines.sorted().joined(separator: "\n").utf8))
    }
}

extension DecisionSubject {
    /// The name under which the customer is looked for: the account, else the subscription that the proofs show.
    var identifier: CustomerIdentifier? {
        if isNamedByTransaction, let transactionID { return .transactionID(transactionID) }
        return account.map(CustomerIdentifier.init)
            ?? (subscription ?? proofs?.latestOriginalTransactionID).map(CustomerIdentifier.originalTransactionID)
    }

    /// The latest transaction among the proofs that the customer has bought; a shared one if there is no other.
    fileprivate var provenTransaction: TransactionID? {
        let transactions = proofs?.transactions.map(\.payload) ?? []
        let bought = transactions.filter { $0.ownership != .familyShared }
        return (bought.isEmpty ? transactions : bought).max { $0.purchaseDate < $1.purchaseDate }?.transactionID
    }
}

extension SubscriberFacts {
    /// Whether a transaction, a subscription or an Apple Account is named by these facts.
    fileprivate func contains(_ id: TransactionID) -> Bool {
        contains { $0.key.id == id || $0.originalTransactionID == id || $0.appTransactionID == id }
    }
}

extension SubscriberState {
    /// The current transaction of the subscription whose period began last.
    fileprivate var latestTransaction: TransactionID? {
        let bought = subscriptions.filter { $0.ownership != .familyShared }
        return (bought.isEmpty ? subscriptions : bought).max { one, other in
            (one.purchasedAt, one.transactionID.text.description)
                < (other.purchasedAt, other.transactionID.text.description)
        }?.transactionID
    }
}
