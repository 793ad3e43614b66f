import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import SubscriberSync

/// The verified proofs of a request. Apple signed them for one app and one environment.
struct VerifiedProofs: Sendable {
    var transactions: [VerifiedData<SignedTransaction>] = []
    /// Renewal info, each with a transaction of its subscription in ``transactions``.
    var renewalInfos: [VerifiedData<RenewalInfo>] = []
    var appTransaction: VerifiedData<AppTransaction>?
    var receipt: VerifiedReceipt?
    /// The receipt as signed.
    var receiptText: [UInt8] = []

    /// The app and environment of all proofs; nil if none names them.
    var app: AppScope? {
        let origins =
            transactions.map(\.payload.origin) + (appTransaction.map { [$0.payload.origin] } ?? [])
            + (receipt.map { [$0.receipt.origin] } ?? [])
        return origins.lazy.compactMap { origin in
            guard let bundleID = origin.bundleID, let environment = origin.environment else { return nil }
            return AppScope(bundleID: bundleID, environment: environment)
        }.first
    }

    /// Returns the facts that the proofs show, except those with a signing date in the future.
    func facts(at now: Timestamp) throws(OpenSSLError) -> [SubscriberFact] {
        var facts: [SubscriberFact] = []
        for transaction in transactions { facts.append(try SubscriberFact(transaction.payload)) }
        for info in renewalInfos {
            for transaction in transactions {
                guard let record = try? SubscriptionRecord(transaction.payload, info.payload) else { continue }
                facts.append(try SubscriberFact(record))
                break
            }
        }
        if let receipt { facts += try receipt.facts(text: receiptText) }
        return facts.filter { SigningTime.isPlausible($0.signedDate, at: now) }
    }

    /// Writes the verified data, as signed by the App Store, for a caller that requests it.
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
