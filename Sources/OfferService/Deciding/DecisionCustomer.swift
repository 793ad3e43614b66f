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
    /// A transaction that is proven to be the customer's, which a JWS is bound to; nil if there is none.
    let transactionID: TransactionID?
    /// nil if nothing belongs to the customer.
    private let owned: OwnedCustomer?
    /// What the facts were derived from.
    private let sources: SubscriberFacts
}

extension DecisionCustomer {
    /// - Parameters:
    ///   - stored: what the store knows of the account and of the subscriptions in the proofs; nil for nothing.
    ///   - newFacts: what the proofs show.
    ///   - lookUp: what became of the question for the App Store.
    init(
        _ subject: DecisionSubject, in app: AppScope, _ configured: Catalogue.App, stored: StoredCustomer?,
        newFacts: [SubscriberFact], _ lookUp: CustomerRefresher.Outcome, at now: Timestamp
    ) throws(Problem) {
        var all = stored ?? StoredCustomer(app: app, facts: [], teamFacts: [], links: [], isComplete: true)
        if !newFacts.isEmpty {
            all = StoredCustomer(
                app: app, facts: Array(SubscriberFacts(all.facts + newFacts)), teamFacts: all.teamFacts,
                links: all.links, isComplete: all.isComplete)
        }
        let proven = Set(newFacts.map(\.originalTransactionID))
        if let account = subject.account, OwnedCustomer.isAnothers(proven, all, account, by: configured.ownership) {
            throw .anotherCustomersProof
        }
        let ofStore = subject.account.flatMap { account in
            stored.flatMap { OwnedCustomer($0, known: CustomerIdentifier(account), by: configured.ownership) }
        }
        // The Apple Accounts that the store knows of an account of the app. Proofs do not add to them.
        let appleAccounts = Set(ofStore?.facts.compactMap(\.appTransactionID) ?? [])
        guard Self.mayBelong(newFacts, to: appleAccounts, subject) else { throw .anotherCustomersProof }
        let addsNothing = newFacts.isEmpty && subject.identifier == subject.account.map(CustomerIdentifier.init)
        let owned =
            addsNothing
            ? ofStore
            : subject.identifier.flatMap {
                OwnedCustomer(all, known: $0, by: configured.ownership, alsoOwning: proven)
            }
        // Of a customer with more subscriptions than the store reads, nothing can be said for sure.
        let facts = all.isComplete ? owned?.facts ?? SubscriberFacts() : SubscriberFacts()
        let appTransaction = subject.proofs?.appTransaction?.payload
        let receipt = subject.proofs?.receipt?.receipt
        let isEmptyHistory =
            all.isComplete && all.facts.isEmpty && Self.isNewAndEmpty(receipt, appTransaction, subject, at: now)
        let state = SubscriberState(
            of: facts, environment: app.environment, groups: configured.groups,
            given: isEmptyHistory ? .whole : .partial, from: subject.isNamedByTransaction ? .given : .all,
            oldBefore: lookUp == .unanswered ? now + (.zero - (configured.freshness ?? Self.freshness)) : nil, at: now)
        let install = Install(appTransaction, receipt, subject, stored: appleAccounts, facts)
        self.app = app
        self.facts = CustomerFacts(
            state: state, environment: app.environment, team: owned?.teamFactsByName ?? [:],
            originalAppVersion: install.version.flatMap(AppVersion.init), originalPurchase: install.purchaseDate)
        self.newFacts = newFacts
        // The proofs must be of the Apple Account that the signature counts for.
        if subject.isNamedByTransaction, subject.proofs != nil, let id = subject.transactionID,
            !SubscriberFacts(newFacts).contains(id), appTransaction?.appTransactionID != id
        {
            throw .anotherCustomersTransaction
        }
        self.owned = owned
        sources = facts
        transactionID =
            subject.provenTransaction ?? subject.transactionID.flatMap { facts.contains($0) ? $0 : nil }
            ?? state.latestTransaction
    }

    /// The account with those that are the same customer's, and each subscription. They hold what is reserved.
    var holders: [CustomerIdentifier] { owned?.holders ?? [] }

    /// The age from which on data is old if the App Store was to be asked and did not answer, unless the app says.
    private static let freshness = Duration.hours(24)

    /// Whether what the proofs show can be the customer's: purchases that name the account, or that are of an Apple Account of the
    /// customer, as far as the store knows any.
    private static func mayBelong(
        _ facts: [SubscriberFact], to appleAccounts: Set<TransactionID>, _ subject: DecisionSubject
    ) -> Bool {
        let shown = Set(facts.compactMap(\.appTransactionID))
        guard !appleAccounts.isEmpty, !shown.isEmpty, shown.isDisjoint(with: appleAccounts) else { return true }
        guard case .appAccountToken(let token)? = subject.account else { return false }
        return facts.contains { $0.appAccountToken == token }
    }

    /// Whether a receipt says that nothing was bought until a short time ago. It does not say by whom. For what counts for an Apple
    /// Account alone, an AppTransaction of the same download must say so.
    private static func isNewAndEmpty(
        _ receipt: AppReceipt?, _ appTransaction: AppTransaction?, _ subject: DecisionSubject, at now: Timestamp
    ) -> Bool {
        guard let receipt, receipt.purchases.isEmpty, now - receipt.creationDate <= HistoryExtent.receiptAge else {
            return false
        }
        guard subject.isNamedByTransaction else { return true }
        guard let one = receipt.originalPurchaseDate, let other = appTransaction?.originalPurchaseDate else {
            return false
        }
        // Receipts have whole seconds.
        return one.milliseconds / 1000 == other.milliseconds / 1000
    }

    /// SHA-256 of everything that the facts were derived from. Only a signature needs it.
    func digest() throws(Problem) -> [UInt8] {
        var lines = sources.map { fact in
            "\(fact.key.kind.rawValue) \(fact.key.id.text) \(fact.signedDate.milliseconds) "
                + Hexadecimal.text(of: fact.digest)
        }
        lines += facts.team.map { name, value in "fact \(name) \(value)" }
        lines.append("environment \(facts.environment.rawValue)")
        if let version = facts.originalAppVersion { lines.append("originalAppVersion \(version)") }
        if let purchase = facts.originalPurchase { lines.append("originalPurchase \(purchase.milliseconds)") }
        do { return try SHA256.hash(Array(lines.sorted().joined(separator: "\n").utf8)) } catch {
            throw .signingUnavailable
        }
    }
}

/// The customer's first download of the app, as proofs show it.
private struct Install {
    let version: String?
    let purchaseDate: Timestamp?

    /// - Parameters:
    ///   - appleAccounts: those that the store knows of the account.
    ///   - facts: everything that is known of the customer, proofs included.
    init(
        _ appTransaction: AppTransaction?, _ receipt: AppReceipt?, _ subject: DecisionSubject,
        stored appleAccounts: Set<TransactionID>, _ facts: SubscriberFacts
    ) {
        if let appTransaction {
            let known = appleAccounts.isEmpty ? Set(facts.compactMap(\.appTransactionID)) : appleAccounts
            // The download of another Apple Account says nothing about the customer.
            if known.isEmpty || appTransaction.appTransactionID.map(known.contains) == true {
                version = appTransaction.originalApplicationVersion
                purchaseDate = appTransaction.originalPurchaseDate
                return
            }
        }
        if let receipt {
            let originals = Set(facts.filter { $0.key.kind != .receiptTransaction }.map(\.originalTransactionID))
            let purchases = Set(receipt.purchases.map { $0.originalTransactionID ?? $0.transactionID })
            if originals.isEmpty || !originals.isDisjoint(with: purchases) {
                (version, purchaseDate) = (receipt.originalAppVersion?.description, receipt.originalPurchaseDate)
                return
            }
        }
        (version, purchaseDate) = (nil, nil)
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
