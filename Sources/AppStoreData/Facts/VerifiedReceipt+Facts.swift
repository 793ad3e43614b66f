import OfferCore
package import OfferCrypto
package import OfferEligibility

extension VerifiedReceipt {
    /// Returns the facts of the purchases in a receipt. Each fact has the date of the receipt.
    ///
    /// If the receipt repeats a transaction, the choice of the copy does not depend on the order.
    /// - Parameter text: the receipt as signed, for the digest.
    package func facts(text: [UInt8]) throws(OpenSSLError) -> [SubscriberFact] {
        let digest = try SHA256.hash(text)
        let facts = transactions.map { transaction in
            SubscriberFact(
                .receiptTransaction(Purchase(transaction)), transactionID: transaction.transactionID,
                originalTransactionID: transaction.originalTransactionID, signedDate: transaction.signedDate,
                digest: digest)
        }
        let byKey = Dictionary(grouping: facts, by: \.key).values
        return byKey.compactMap { copies in copies.max { $0.encoded.lexicographicallyPrecedes($1.encoded) } }
    }
}
