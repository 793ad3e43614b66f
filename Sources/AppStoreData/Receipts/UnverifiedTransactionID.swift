package import OfferCore
import OfferCrypto
import OfferEligibility

/// A transaction ID that anyone could have made up. It is used only in requests to the App Store Server API.
package struct UnverifiedTransactionID: Hashable, Sendable {
    package let transactionID: TransactionID

    init(_ transactionID: TransactionID) { self.transactionID = transactionID }

    /// Finds a transaction ID in an app receipt without verifying the receipt, as Apple's server libraries do. Every ID
    /// in a receipt leads to the same customer.
    /// - Parameter receipt: CMS in BER or DER.
    /// - Returns: nil if the receipt has no purchase, or if its first purchase has no transaction ID.
    package static func first(inReceipt receipt: [UInt8]) throws(ReceiptFailure) -> UnverifiedTransactionID? {
        let content: [UInt8]
        do { content = try SignedMessage(ber: receipt).unverifiedContent } catch {
            throw .notVerified(VerificationFailure(message: error))
        }
        do throws(ReceiptPayloadError) {
            guard let purchase = try ReceiptPayload(content).purchases.first else { return nil }
            let fields = try ReceiptPurchase.fields(of: purchase)
            for name in [ReceiptPurchase.Name.transactionID, .originalTransactionID] {
                if let id = try fields.field(name, TransactionID.init) { return UnverifiedTransactionID(id) }
            }
            return nil
        } catch { throw .payload(error) }
    }
}
