import OfferCore
import OfferEligibility

/// The customer that a decision is about, as a request names and proves them.
struct DecisionSubject {
    let bundleID: BundleID
    /// nil if the app attaches no account to purchases. Then only proofs show who the customer is.
    let account: Customer?
    /// Proves nothing by itself.
    let transactionID: TransactionID?
    /// nil if the request names none.
    let environment: AppStoreEnvironment?
    let proofs: VerifiedProofs?
    /// True if the transaction names the customer. The signature then counts for its Apple Account only, so naming
    /// another transaction gains nothing.
    let isNamedByTransaction: Bool
    /// The rule for refreshing ``transactionID`` from the App Store without a proof.
    let asking: Asking
    /// The subscription that names the customer in a request by the App Store; nil for other requests.
    let subscription: TransactionID?

    enum Asking: Hashable {
        /// Users could name any transaction.
        case never
        /// A caller could too, so these refreshes have a separate budget.
        case withinBudget
        /// The transaction is named by a caller who may look customers up, or by the App Store itself.
        case always

        init(_ principal: Principal) {
            self = principal.customer != nil ? .never : principal.has(.customers) ? .always : .withinBudget
        }
    }

    /// - Parameter customer: as it is signed. An empty username stands for an app that attaches none.
    init(
        _ bundleID: BundleID, _ customer: Customer, transactionID: TransactionID?, environment: AppStoreEnvironment?,
        proofs: VerifiedProofs?, asking: Asking
    ) {
        self.bundleID = bundleID
        account = customer.utf8.isEmpty ? nil : customer.account
        self.transactionID = transactionID
        self.environment = environment
        self.proofs = proofs
        isNamedByTransaction = false
        self.asking = asking
        subscription = nil
    }

    /// Creates the subject of a JWS that is bound to a transaction.
    init(_ bundleID: BundleID, boundTo transactionID: TransactionID, proofs: VerifiedProofs?, asking: Asking) {
        self.bundleID = bundleID
        account = nil
        self.transactionID = transactionID
        environment = nil
        self.proofs = proofs
        isNamedByTransaction = true
        self.asking = asking
        subscription = nil
    }

    /// Creates the subject of a request by the App Store itself.
    init(_ app: AppScope, ofSubscription original: TransactionID) {
        bundleID = app.bundleID
        account = nil
        transactionID = original
        environment = app.environment
        proofs = nil
        isNamedByTransaction = false
        asking = .always
        subscription = original
    }
}
