import OfferCore
import OfferEligibility

/// The customer of a request, as the request names and proves them.
struct NamedCustomer: Sendable {
    /// The part of a request that names its customer.
    struct Name: Hashable, Sendable {
        let bundleID: BundleID
        let identity: Identity
        /// nil if the request names none.
        let environment: AppStoreEnvironment?
    }

    enum Identity: Hashable, Sendable {
        /// An account of the app, as it is signed. An empty username stands for an app that attaches none.
        /// - `claiming`: a transaction that the request says is the customer's, which proves nothing.
        case account(Customer, claiming: TransactionID?)
        /// The transaction that a JWS is bound to. The JWS counts for its Apple Account only, so naming another transaction
        /// gains nothing.
        case boundTransaction(TransactionID)
        /// The subscription that a request by the App Store names.
        case subscription(TransactionID)
    }

    /// The permission to refresh a transaction from the App Store although no proof shows it.
    enum UnprovenRefresh: Hashable, Sendable {
        /// Users could name any transaction.
        case never
        /// A caller could name any transaction too, so these refreshes have a separate budget.
        case withinBudget
        /// The transaction is named by a caller who may look customers up, or by the App Store itself.
        case always

        init(_ principal: Principal) {
            self = principal.customer != nil ? .never : principal.has(.customers) ? .always : .withinBudget
        }
    }

    let name: Name
    let proofs: VerifiedProofs?
    let unprovenRefresh: UnprovenRefresh

    init(_ name: Name, proofs: VerifiedProofs?, unprovenRefresh: UnprovenRefresh) {
        self.name = name
        self.proofs = proofs
        self.unprovenRefresh = unprovenRefresh
    }

    var bundleID: BundleID { name.bundleID }

    var environment: AppStoreEnvironment? { name.environment }

    /// The account of the app; nil if only purchases name the customer.
    var account: Customer? {
        guard case .account(let customer, _) = name.identity, !customer.utf8.isEmpty else { return nil }
        return customer.account
    }

    /// The transaction that the request names. It proves nothing by itself.
    var transactionID: TransactionID? {
        switch name.identity {
        case .account(_, let claimed): claimed
        case .boundTransaction(let id), .subscription(let id): id
        }
    }

    /// True if the signature counts only for the Apple Account of ``transactionID``.
    var isBoundToTransaction: Bool {
        if case .boundTransaction = name.identity { true } else { false }
    }
}
