import AppStoreData
import OfferCore

/// The proofs of a request, verified: Apple signed them, for one app and one environment.
struct VerifiedProofs: Sendable {
    var transactions: [VerifiedData<SignedTransaction>] = []
    /// Each has a transaction of its subscription in ``transactions``.
    var renewalInfos: [VerifiedData<RenewalInfo>] = []
    var appTransaction: VerifiedData<AppTransaction>?
    var receipt: VerifiedReceipt?

    /// Writes what was verified, as the App Store signed it, for a caller that asks for it.
    func write(to writer: inout JSONWriter) {
        writer.object("verifiedProofs") { writer in
            writer.rawValues("signedTransactions", transactions.map(\.object.json))
            writer.rawValues("signedRenewalInfos", renewalInfos.map(\.object.json))
            if let appTransaction { writer.rawValue("signedAppTransaction", appTransaction.object.json) }
            if let receipt { writer.object("appReceipt") { receipt.receipt.write(to: &$0) } }
        }
    }
}

extension AppReceipt {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("bundleID", utf8: bundleID.text.utf8)
        writer.member("environment", environment?.rawValue ?? "")
        writer.member("createdAt", creationDate.milliseconds)
        writer.member("purchases", Int64(purchases.count))
        writer.member("transactionIDs", Set(purchases.map(\.transactionID.text.description)).sorted())
    }
}
