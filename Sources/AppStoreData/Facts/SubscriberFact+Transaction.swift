import OfferCore
package import OfferCrypto
package import OfferEligibility

extension SubscriberFact {
    /// Creates the fact of a transaction that the App Store signed.
    ///
    /// The digest covers the payload as signed, so another signature over the same payload gives the same fact.
    /// - Parameter transaction: a verified transaction of the app for which the fact is stored. It must not come from a
    ///   receipt.
    package init(_ transaction: SignedTransaction) throws(OpenSSLError) {
        let digest = try SHA256.hash(transaction.json ?? [])
        self.init(
            .transaction(Purchase(transaction)), transactionID: transaction.transactionID,
            originalTransactionID: transaction.originalTransactionID, signedDate: transaction.signedDate,
            digest: digest)
    }

    /// Creates the fact of renewal info.
    /// - Parameter record: the renewal info and a verified transaction of the same subscription, which names the app.
    package init(_ record: SubscriptionRecord) throws(OpenSSLError) {
        let info = record.renewalInfo
        self.init(
            .renewalInfo(Renewal(info)), transactionID: record.transaction.transactionID,
            originalTransactionID: info.originalTransactionID, signedDate: info.signedDate,
            digest: try SHA256.hash(info.json))
    }
}
