package import AppStoreAPI
import OfferConfiguration
package import OfferCore
package import OfferEligibility

/// A request to refresh a customer from the App Store.
package struct RefreshRequest: Sendable {
    /// The identity of a request. Requests with the same key share one refresh.
    package struct Key: Hashable, Sendable {
        let app: AppScope
        package let id: TransactionNumber
    }

    package let key: Key
    /// The CMS receipt of the app, for `verifyReceipt` if the App Store Server API has no answer.
    package var receipt: [UInt8]?
    /// True if nothing shows that the transaction exists. Such requests have a separate budget.
    package let isUnproven: Bool

    /// - Parameter id: any transaction of the customer, or the app transaction.
    /// - Returns: nil for an identifier that the App Store cannot have issued.
    package init?(_ id: TransactionID, in app: AppScope, receipt: [UInt8]? = nil, isUnproven: Bool = false) {
        guard let number = TransactionNumber(id) else { return nil }
        key = Key(app: app, id: number)
        self.receipt = receipt
        self.isUnproven = isUnproven
    }
}
