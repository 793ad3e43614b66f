package import AppStoreAPI
import OfferConfiguration
package import OfferCore
package import OfferEligibility

/// A customer to ask the App Store about.
package struct CustomerQuestion: Sendable {
    /// Requests about one customer share one question.
    package struct Key: Hashable, Sendable {
        let app: AppScope
        package let id: TransactionNumber
    }

    package let key: Key
    /// CMS, as the app has it: for `verifyReceipt`, where the App Store Server API cannot answer.
    package var receipt: [UInt8]?
    /// True if nothing shows that the transaction exists. Such questions have a budget of their own.
    package let isUnproven: Bool

    /// - Parameter id: any transaction of the customer, or the app transaction.
    /// - Returns: nil for an identifier that the App Store has not issued.
    package init?(_ id: TransactionID, in app: AppScope, receipt: [UInt8]? = nil, isUnproven: Bool = false) {
        guard let number = TransactionNumber(id) else { return nil }
        key = Key(app: app, id: number)
        self.receipt = receipt
        self.isUnproven = isUnproven
    }
}
