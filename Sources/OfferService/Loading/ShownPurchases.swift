import AppStoreData
import OfferCore
import OfferEligibility
import SubscriberStore

/// The purchases that a request's proofs show, none of which is known to be another customer's.
struct ShownPurchases {
    /// The Apple Account of the purchases; nil if it is unknown.
    let appleAccount: TransactionID?
    /// The accounts that own the purchases.
    let owners: Set<Customer>
    /// The Apple Accounts that the store links to an account of the app. Proofs do not add to them.
    let knownAppleAccounts: Set<TransactionID>
    /// True if the store knows nothing of the account, and the proofs have no signed transaction. Anybody can copy a receipt
    /// or an AppTransaction.
    let isStranger: Bool

    /// - Parameters:
    ///   - proven: the purchases that the proofs show.
    ///   - all: the stored facts, together with the facts that the proofs show.
    /// - Throws: ``Problem/anotherCustomersProof`` if a purchase is known to be another customer's.
    init(
        _ proven: Set<TransactionID>, _ customer: NamedCustomer, _ all: StoredCustomer, stored: StoredCustomer,
        _ newFacts: [SubscriberFact], by policy: OwnershipPolicy
    ) throws(Problem) {
        guard customer.proofs != nil else {
            (appleAccount, owners, knownAppleAccounts, isStranger) = (nil, [], [], false)
            return
        }
        if let account = customer.account,
            CustomerPurchases.isAnothers(proven, of: account, in: all.facts, links: all.links, by: policy)
        {
            throw .anotherCustomersProof
        }
        let shown = CustomerPurchases(of: nil, in: all.facts, links: all.links, by: policy, proven: proven).purchases
            .filter { proven.contains($0.original) }
        let named = shown.map(\.appleAccount) + [customer.proofs?.appTransaction?.payload.appTransactionID]
        let appleAccounts = Set(named.compactMap(\.self))
        guard appleAccounts.count <= 1 else {
            throw .proofRefused("proofs", DataRefusal(.severalAppleAccounts))
        }
        let known = OwnedCustomer(
            stored, known: customer.isBoundToTransaction ? customer.identifier(in: stored.facts) : customer.named,
            by: policy)
        owners = Set(shown.flatMap(\.owners))
        knownAppleAccounts = customer.account == nil ? [] : known?.purchases.appleAccounts ?? []
        // An AppTransaction of another Apple Account does not count.
        appleAccount =
            newFacts.isEmpty && !knownAppleAccounts.isEmpty
            ? appleAccounts.intersection(knownAppleAccounts).first : appleAccounts.first
        isStranger = known == nil && customer.proofs?.transactions.isEmpty == true
        guard Self.mayBelong(newFacts, appleAccounts, to: knownAppleAccounts, customer),
            Self.receiptMayBelong(newFacts, beside: known, customer)
        else { throw .anotherCustomersProof }
    }

    /// Returns true if the proofs can be the customer's. If they name an Apple Account, and those of the customer are
    /// known, the proofs must name one of them, or the customer's account.
    private static func mayBelong(
        _ facts: [SubscriberFact], _ shown: Set<TransactionID>, to known: Set<TransactionID>, _ customer: NamedCustomer
    ) -> Bool {
        guard !facts.isEmpty, !known.isEmpty, !shown.isEmpty, shown.isDisjoint(with: known) else { return true }
        guard case .appAccountToken(let token)? = customer.account else { return false }
        return facts.contains { $0.appAccountToken == token }
    }

    /// Returns true if the receipt can be the customer's. A receipt names neither an account nor an Apple Account. It
    /// must therefore share a purchase with the customer's stored data, or with the customer's transactions in the
    /// request.
    private static func receiptMayBelong(
        _ newFacts: [SubscriberFact], beside known: OwnedCustomer?, _ customer: NamedCustomer
    ) -> Bool {
        guard let receipt = customer.proofs?.receipt?.receipt else { return true }
        let inReceipt = newFacts.filter { $0.key.kind == .receiptTransaction }
        let ids = Set(inReceipt.map(\.originalTransactionID)).union(inReceipt.map(\.key.id))
        let signed = newFacts.filter { $0.key.kind != .receiptTransaction }
        let shown = signed.filter { fact in known?.mayOwn(fact, customer.account?.token) ?? true }
        let others = Set((shown + (known.map { Array($0.facts) } ?? [])).map(\.originalTransactionID))
        guard !customer.isBoundToTransaction else {
            return !ids.isDisjoint(with: others) || customer.transactionID.map(ids.contains) == true
                || receipt.isOfDownload(customer.proofs?.appTransaction?.payload)
        }
        return known == nil && signed.isEmpty || !ids.isDisjoint(with: others)
    }
}

extension OwnedCustomer {
    /// Returns true if a fact in proofs belongs to one of the customer's purchases or Apple Accounts, or names the
    /// account.
    fileprivate func mayOwn(_ fact: SubscriberFact, _ token: UUIDText?) -> Bool {
        facts.contains { $0.originalTransactionID == fact.originalTransactionID }
            || fact.appTransactionID.map(purchases.appleAccounts.contains) ?? false
            || token != nil && fact.appAccountToken == token
    }
}

extension AppReceipt {
    /// Returns true if the receipt and an AppTransaction describe the same download of the app. Times in receipts have
    /// a precision of one second.
    func isOfDownload(_ appTransaction: AppTransaction?) -> Bool {
        guard let one = originalPurchaseDate, let other = appTransaction?.originalPurchaseDate else { return false }
        return one.milliseconds / 1000 == other.milliseconds / 1000
    }
}

extension NamedCustomer {
    /// The account of the app; nil if only purchases name the customer.
    fileprivate var named: CustomerIdentifier? { account.map(CustomerIdentifier.init) }
}
