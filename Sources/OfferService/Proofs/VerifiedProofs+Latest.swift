import AppStoreData
import OfferCore
import OfferEligibility

extension VerifiedProofs {
    /// The latest subscription or purchase in the proofs. The App Store may know more about its customer.
    var latestOriginalTransactionID: TransactionID? { purchases.max { $0.0 < $1.0 }?.1 }

    /// The subscriptions and purchases in the proofs.
    var originalTransactionIDs: Set<TransactionID> { Set(purchases.map(\.1)) }

    private var purchases: [(Timestamp, TransactionID)] {
        let signed = transactions.map { ($0.payload.purchaseDate, $0.payload.originalTransactionID) }
        let inReceipt = receipt?.receipt.purchases.map {
            ($0.purchaseDate, $0.originalTransactionID ?? $0.transactionID)
        }
        return signed + (inReceipt ?? [])
    }
}
