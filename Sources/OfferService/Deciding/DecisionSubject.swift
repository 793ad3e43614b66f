import OfferCore

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
    /// Whether the transaction names the customer: what is signed counts for its Apple Account alone, so nobody can gain by naming
    /// another one.
    let isNamedByTransaction: Bool
    /// Whether the App Store is asked about ``transactionID``. Users could name any, so it is not for them.
    let asksAboutTransaction: Bool
    /// The subscription by which the App Store names the customer; nil for other requests.
    let subscription: TransactionID?

    /// - Parameters:
    ///   - customer: as it is signed. An empty username stands for an app that attaches none.
    ///   - isUser: whether a user asks, and not a caller.
    init(
        _ bundleID: BundleID, _ customer: Customer, transactionID: TransactionID?, environment: AppStoreEnvironment?,
        proofs: VerifiedProofs?, isUser: Bool
    ) {
        self.bundleID = bundleID
        account = customer.utf8.isEmpty ? nil : customer
        self.transactionID = transactionID
        self.environment = environment
        self.proofs = proofs
        isNamedByTransaction = false
        asksAboutTransaction = !isUser
        subscription = nil
    }

    /// Creates the subject of a JWS that is bound to a transaction.
    init(_ bundleID: BundleID, boundTo transactionID: TransactionID, proofs: VerifiedProofs?) {
        self.bundleID = bundleID
        account = nil
        self.transactionID = transactionID
        environment = nil
        self.proofs = proofs
        isNamedByTransaction = true
        asksAboutTransaction = true
        subscription = nil
    }

    /// Creates the subject of a request by the App Store itself.
    /// - Parameter account: whose subscription it is; nil if no account is known.
    init(_ app: AppScope, ofSubscription original: TransactionID, account: Customer?) {
        bundleID = app.bundleID
        self.account = account
        transactionID = original
        environment = app.environment
        proofs = nil
        isNamedByTransaction = false
        asksAboutTransaction = true
        subscription = original
    }
}
