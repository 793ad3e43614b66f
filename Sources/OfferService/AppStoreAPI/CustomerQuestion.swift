import AppStoreAPI
import OfferCore
import OfferEligibility

/// A customer to ask the App Store about.
struct CustomerQuestion: Sendable {
    /// Requests about one customer share one question.
    struct Key: Hashable, Sendable {
        let app: AppScope
        let id: TransactionNumber
    }

    let key: Key
    /// CMS, as the app has it: for `verifyReceipt`, where the App Store Server API cannot answer.
    var receipt: [UInt8]?
    /// True if nothing shows that the transaction exists. Such questions have a budget of their own.
    let isUnproven: Bool

    /// - Parameter id: any transaction of the customer, or the app transaction.
    /// - Returns: nil for an identifier that the App Store has not issued.
    init?(_ id: TransactionID, in app: AppScope, receipt: [UInt8]? = nil, isUnproven: Bool = false) {
        guard let number = TransactionNumber(id) else { return nil }
        key = Key(app: app, id: number)
        self.receipt = receipt
        self.isUnproven = isUnproven
    }
}
