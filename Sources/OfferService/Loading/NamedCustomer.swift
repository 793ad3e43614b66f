import OfferCore
import OfferEligibility

/// A request's customer: the name in the request, and the proofs.
struct NamedCustomer: Sendable {
    /// The part of a request that names its customer and the place in the app.
    struct Name: Hashable, Sendable {
        let bundleID: BundleID
        let identity: Identity
        /// nil if the request names no environment.
        let environment: AppStoreEnvironment?
        /// The place in the app where an offer is to appear; nil if the request does not name it.
        var placement: FieldText?
        /// The link that the customer opened; nil if the request shows none.
        var link: FieldText?
    }

    enum Identity: Hashable, Sendable {
        /// An account of the app, in the form that is signed. The username is empty if the app attaches none.
        /// - `claiming`: a transaction that the request attributes to the customer, without proof.
        case account(Customer, claiming: TransactionID?)
        /// The transaction that a JWS is bound to. The JWS counts only for that transaction's Apple Account, so naming
        /// another transaction gains nothing.
        case boundTransaction(TransactionID)
        /// The subscription that a request by the App Store names.
        case subscription(TransactionID)
    }

    /// The permission to query the App Store about a transaction that no proof shows.
    enum UnprovenRefresh: Hashable, Sendable {
        /// For users, who could name any transaction.
        case never
        /// For callers. They could name any transaction too, so these refreshes have a separate budget.
        case withinBudget
        /// For callers who may look up customers, and for the App Store.
        case always

        init(_ principal: Principal) {
            self = principal.customer != nil ? .never : principal.has(.customers) ? .always : .withinBudget
        }
    }

    let name: Name
    let proofs: VerifiedProofs?
    let unprovenRefresh: UnprovenRefresh
    /// The link that ``Name/link`` stands for; nil if there is none, or if it has not been read yet.
    var shownLink: ShownLink?

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
