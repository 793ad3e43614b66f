import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// A customer with everything that a decision is based on.
struct EvaluatedCustomer: Sendable {
    let app: AppScope
    /// The customer as named in a signature; nil for a request bound to a transaction, because its signature names no
    /// customer.
    let signed: Customer?
    let facts: CustomerFacts
    /// The facts that the proofs show, to be merged into the store.
    let newFacts: [SubscriberFact]
    /// A known transaction of the customer to which a JWS can be bound; nil if there is none.
    let transactionID: TransactionID?
    /// The purchases for which the App Store can be queried about the rest of the customer's history.
    let gaps: [TransactionID]
    /// The identifier of a customer who has bought nothing.
    private let withoutPurchases: CustomerIdentifier?
    /// nil if nothing belongs to the customer.
    private let owned: OwnedCustomer?
    /// The facts that the state was derived from.
    private let sources: SubscriberFacts
    /// The owners of the purchases in the proofs.
    private let shownOwners: Set<Customer>
    /// True if the request names the customer by an account of the app, and not only by purchases.
    private let isNamedByAccount: Bool
    /// See ``ShownPurchases/isStranger``.
    let isStranger: Bool
    /// The result of the link in the request; nil if it has none.
    let link: LinkResult?
}

/// The outcomes of the refreshes that a decision waited for.
struct RefreshOutcomes {
    /// The outcome for subscriptions whose data is too old, and for customers whom the store does not know.
    var customer = RefreshQueue.Outcome.notNeeded
    /// The outcome for the history, if a rule needs it.
    var history = RefreshQueue.Outcome.notNeeded
    /// True if the App Store answered within the last minute that the Apple Account of the request has no purchases.
    var isEmpty = false
}

extension EvaluatedCustomer {
    /// - Parameters:
    ///   - stored: the stored data about the account and the purchases in the proofs; nil if there is none.
    ///   - newFacts: the facts that the proofs show.
    init(
        _ customer: NamedCustomer, in app: AppScope, _ configured: Catalogue.App, stored: StoredCustomer?,
        newFacts: [SubscriberFact], _ refreshes: RefreshOutcomes, at now: Timestamp
    ) throws(Problem) {
        let stored = stored ?? StoredCustomer(unknownIn: app)
        let linkGrant = customer.shownLink?.grant(in: app)
        let all = stored.adding(newFacts).adding(linkGrant)
        let proven = Set(newFacts.map(\.originalTransactionID))
        let shown = try ShownPurchases(proven, customer, all, stored: stored, newFacts, by: configured.ownership)
        let owned = OwnedCustomer(
            all, known: customer.identifier(in: all.facts), by: configured.ownership, proven: proven,
            provenAppleAccount: shown.appleAccount)
        // Nothing is certain about a customer with more purchases than the store reads.
        let facts = all.isComplete ? owned?.facts ?? SubscriberFacts() : SubscriberFacts()
        let appTransaction = customer.proofs?.appTransaction?.payload
        let receipt = customer.proofs?.receipt?.receipt
        let evidence = HistoryEvidence(
            freshness: configured.freshness ?? HistoryEvidence.defaultFreshness, coverage: all.coverage,
            isEverythingRead: all.isComplete, areConsumablesRead: !all.hasUnreadConsumables,
            emptyHistoryDate: facts.isEmpty
                ? refreshes.isEmpty ? now : Self.dateOfEmptyReceipt(receipt, appTransaction, customer) : nil,
            isAppStoreSilent: refreshes.history == .unanswered)
        let state = SubscriberState(
            of: facts, environment: app.environment, groups: configured.groups,
            familySharable: configured.familySharable, evidence: evidence,
            oldBefore: refreshes.customer == .unanswered ? now - evidence.freshness : nil, at: now)
        let download = FirstDownload(appTransaction, receipt, customer, stored: shown.knownAppleAccounts, facts)
        self.app = app
        let link = customer.shownLink?.result(
            isOwn: linkGrant.map { grant in
                owned.map { $0.grants.contains { $0.id == grant.id } }
                    ?? (grant.subject.customer == customer.identifier)
            } ?? false)
        self.link = link
        self.facts = CustomerFacts(
            state: state, environment: app.environment, team: owned?.teamFactsByName ?? [:],
            originalAppVersion: download.version.flatMap(AppVersion.init), originalPurchase: download.purchaseDate,
            places: owned?.exposures.places ?? [:], placement: customer.name.placement?.description,
            link: link.flatMap { $0.refusal == nil ? $0.campaign : nil },
            events: owned?.events ?? [], grants: owned?.grants ?? [])
        self.newFacts = newFacts
        // The proofs must belong to the Apple Account that the signature counts for.
        if customer.isBoundToTransaction, customer.proofs != nil, let id = customer.transactionID,
            !SubscriberFacts(newFacts).contains(id), appTransaction?.appTransactionID != id
        {
            throw .anotherCustomersTransaction
        }
        self.owned = owned
        // The App Store knows the requested ID, but no purchases: it is that of an Apple Account.
        let empty = refreshes.isEmpty ? customer.transactionID : nil
        withoutPurchases = (appTransaction?.appTransactionID ?? empty).map(CustomerIdentifier.appTransactionID)
        signed = try customer.signed(as: owned?.purchases.accounts ?? [])
        sources = facts
        gaps = state.history.isOfApp || !all.isComplete ? [] : KnownHistory.gaps(in: facts, evidence, at: now)
        shownOwners = shown.owners
        isNamedByAccount = customer.account != nil
        isStranger = shown.isStranger
        transactionID =
            customer.provenTransaction ?? customer.transactionID.flatMap { facts.contains($0) ? $0 : nil }
            ?? state.latestTransaction
    }

    /// The accounts of the customer, or of the purchase that names the customer.
    private var accounts: Set<Customer> { owned?.purchases.accounts ?? [] }

    /// The identifiers that hold a reservation for the customer.
    var holders: [CustomerIdentifier] { owned?.holders ?? [] }

    /// The identifier under which exposures are recorded; nil if the customer is unknown.
    var exposedAs: CustomerIdentifier? { owned?.recordedAs ?? withoutPurchases }

    /// The exposures that are recorded.
    var exposures: [Exposure] { owned?.exposures ?? [] }

    /// True if a V1 signature may name the customer. The signature counts for that name everywhere, so the customer
    /// must own the purchases in the proofs.
    var mayBeNamedInV1: Bool {
        let names = (isNamedByAccount ? accounts : []).union([signed?.account].compactMap(\.self))
        return shownOwners.isEmpty || !shownOwners.isDisjoint(with: names)
    }

    /// Returns the date of a receipt without purchases. Such a receipt does not name its owner. For a signature that
    /// counts for one Apple Account only, an AppTransaction of the same download must name the owner.
    private static func dateOfEmptyReceipt(
        _ receipt: AppReceipt?, _ appTransaction: AppTransaction?, _ customer: NamedCustomer
    ) -> Timestamp? {
        guard let receipt, receipt.purchases.isEmpty else { return nil }
        guard customer.isBoundToTransaction else { return receipt.creationDate }
        return receipt.isOfDownload(appTransaction) ? receipt.creationDate : nil
    }

    /// Returns the SHA-256 hash of everything that the facts were derived from. Only a signature needs it.
    func digest() throws(Problem) -> [UInt8] {
        var lines = sources.map { fact in
            "\(fact.key.kind.rawValue) \(fact.key.id.text) \(fact.signedDate.milliseconds) "
                + Hexadecimal.text(of: fact.digest)
        }
        lines += facts.team.map { name, value in "fact \(name) \(value)" }
        lines.append("environment \(facts.environment.rawValue)")
        if let version = facts.originalAppVersion { lines.append("originalAppVersion \(version)") }
        if let purchase = facts.originalPurchase { lines.append("originalPurchase \(purchase.milliseconds)") }
        if let placement = facts.placement { lines.append("placement \(placement)") }
        if let link = facts.link { lines.append("link \(link)") }
        lines += facts.events.map { event in
            "\(event.kind.rawValue) \(event.productID.text) \(event.offerID.text) \(event.at.milliseconds)"
        }
        lines += facts.places.map { sample, isIn in "place \(sample) \(isIn)" }
        lines += facts.grants.map { "grant \($0.id)" }
        do { return try SHA256.hash(Array(lines.sorted().joined(separator: "\n").utf8)) } catch {
            throw .signingUnavailable
        }
    }
}

/// The customer's first download of the app, as proofs show it.
private struct FirstDownload {
    let version: String?
    let purchaseDate: Timestamp?

    /// - Parameters:
    ///   - appleAccounts: the Apple Accounts that the store links to the account.
    ///   - facts: everything that is known about the customer, including the proofs.
    init(
        _ appTransaction: AppTransaction?, _ receipt: AppReceipt?, _ customer: NamedCustomer,
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

extension NamedCustomer {
    /// The identifier for looking up the customer: the transaction, subscription or account in the request, or the
    /// latest purchase in the proofs.
    var identifier: CustomerIdentifier? {
        if case .boundTransaction(let id) = name.identity { return .transactionID(id) }
        if case .subscription(let original) = name.identity { return .originalTransactionID(original) }
        return account.map(CustomerIdentifier.init)
            ?? proofs?.latestOriginalTransactionID.map(CustomerIdentifier.originalTransactionID)
    }

    /// Returns ``identifier``, or the Apple Account if the request is bound to its `appTransactionID`.
    func identifier(in facts: [SubscriberFact]) -> CustomerIdentifier? {
        guard isBoundToTransaction, let transactionID, facts.contains(where: { $0.appTransactionID == transactionID })
        else { return identifier }
        return .appTransactionID(transactionID)
    }

    /// - Parameter accounts: the customer's accounts. For a subscription that the App Store names, only a token can be
    ///   signed; without a token, the signature names no account.
    fileprivate func signed(as accounts: Set<Customer>) throws(Problem) -> Customer? {
        switch name.identity {
        case .account(let customer, _): return customer
        case .boundTransaction: return nil
        case .subscription:
            let tokens = accounts.compactMap(\.token)
            if let token = tokens.min(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                return .appAccountToken(token)
            }
            do { return try Customer(applicationUsername: []) } catch { throw .invalidField(error) }
        }
    }

    /// The latest transaction in the proofs that the customer bought; the latest shared one if there is no other.
    fileprivate var provenTransaction: TransactionID? {
        let transactions = proofs?.transactions.map(\.payload) ?? []
        let bought = transactions.filter { $0.ownership == .purchased }
        return (bought.isEmpty ? transactions : bought).max { $0.purchaseDate < $1.purchaseDate }?.transactionID
    }
}

extension SubscriberFacts {
    /// Returns true if these facts name a transaction, a subscription or an Apple Account.
    fileprivate func contains(_ id: TransactionID) -> Bool {
        contains { $0.key.id == id || $0.originalTransactionID == id || $0.appTransactionID == id }
    }
}

extension SubscriberState {
    /// The current transaction of the subscription whose period began last.
    fileprivate var latestTransaction: TransactionID? {
        let bought = subscriptions.filter { $0.ownership == .purchased }
        return (bought.isEmpty ? subscriptions : bought).max { one, other in
            (one.purchasedAt, one.transactionID.text.description)
                < (other.purchasedAt, other.transactionID.text.description)
        }?.transactionID
    }
}
