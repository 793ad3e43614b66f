package import AppStoreData
package import OfferCore
import OfferCrypto
package import OfferEligibility

/// A reader that verifies the signed data in an answer and derives facts from it.
///
/// TLS protects an answer in transit, but only a signature shows that a purchase belongs to this app and environment.
package struct SignedAnswerReader: Sendable {
    /// The facts from an answer, with their certificates and the refusals of omitted entries.
    package struct Reading: Sendable {
        package fileprivate(set) var facts: [SubscriberFact] = []
        /// The certificate chains of the signed data. None of their certificates may be revoked.
        package fileprivate(set) var chains: [VerifiedChain] = []
        /// The reasons why entries were omitted. If there are any, the answer is incomplete.
        package fileprivate(set) var leftOut: [DataRefusal] = []

        /// - Throws: a refusal if all entries were omitted, because the answer then proves nothing.
        fileprivate func requireSome() throws(DataRefusal) {
            if facts.isEmpty, let refusal = leftOut.first { throw refusal }
        }
    }

    private let verifier: AppStoreVerifier
    private let origin: ExpectedOrigin
    private let now: Timestamp

    /// - Parameters:
    ///   - app: the app that the answer must be about.
    ///   - appAppleID: the app's Apple ID, checked only in production.
    ///   - now: the time at which the answer arrived.
    package init(_ verifier: AppStoreVerifier, for app: AppScope, appAppleID: Int64?, at now: Timestamp) {
        self.verifier = verifier
        self.now = now
        origin = ExpectedOrigin(bundleID: app.bundleID, appAppleID: appAppleID, environments: [app.environment])
    }

    /// Reads statuses: the last transaction, the renewal info and the status of each subscription.
    ///
    /// An entry that Apple signed but that cannot be read is omitted, and the others are used.
    /// - Throws: a refusal if any part is not signed by Apple or belongs to another app, or if every entry is omitted.
    package func read(_ statuses: SubscriptionStatuses) throws(DataRefusal) -> Reading {
        var reading = Reading()
        reading.leftOut = Self.refusals(of: statuses.unreadableCount)
        for item in statuses.items {
            try readEntry(&reading) { reading throws(DataRefusal) in try read(item, &reading) }
        }
        try reading.requireSome()
        return reading
    }

    /// Reads a page of transactions. Products other than subscriptions are read too, because rules can test ownership.
    ///
    /// An entry that Apple signed but that cannot be read is omitted, and the others are used.
    /// - Throws: a refusal if any part is not signed by Apple or belongs to another app, or if every entry is omitted.
    package func read(_ page: TransactionHistoryPage) throws(DataRefusal) -> Reading {
        try read(page.signedTransactions, unreadable: page.unreadableCount)
    }

    /// Reads the transactions of an order, in the same way.
    package func read(_ order: OrderTransactions) throws(DataRefusal) -> Reading {
        try read(order.signedTransactions, unreadable: order.unreadableCount)
    }

    private func read(_ transactions: [[UInt8]], unreadable count: Int) throws(DataRefusal) -> Reading {
        var reading = Reading()
        reading.leftOut = Self.refusals(of: count)
        for text in transactions {
            try readEntry(&reading) { reading throws(DataRefusal) in
                let transaction = try transaction(text, &reading)
                reading.facts.append(try fact { () throws(OpenSSLError) in try SubscriberFact(transaction) })
            }
        }
        try reading.requireSome()
        return reading
    }

    /// Reads one entry completely or omits it completely.
    private func readEntry(
        _ reading: inout Reading, _ read: (inout Reading) throws(DataRefusal) -> Void
    ) throws(DataRefusal) {
        var extended = reading
        do throws(DataRefusal) {
            try read(&extended)
            reading = extended
        } catch {
            guard error.concernsOneEntry else { throw error }
            reading.leftOut.append(error)
        }
    }

    /// Returns one refusal for each unreadable entry.
    private static func refusals(of count: Int) -> [DataRefusal] {
        Array(repeating: DataRefusal(PayloadError(.unrecognised)), count: count)
    }

    /// Verifies and reads one signed part.
    /// - Returns: the signed JSON.
    /// - Throws: a refusal if the part is not signed by Apple or is not about this app and environment.
    package func payload<Payload: SignedPayload>(
        _: Payload.Type, of text: [UInt8]
    ) throws(DataRefusal) -> [UInt8] {
        var reading = Reading()
        let data: VerifiedData<Payload> = try verify(text, &reading)
        return data.object.json
    }

    private func read(_ item: SubscriptionStatuses.Item, _ reading: inout Reading) throws(DataRefusal) {
        let transaction = try transaction(item.signedTransaction, &reading)
        guard transaction.originalTransactionID == item.originalTransactionID else {
            throw DataRefusal(.anotherSubscription)
        }
        let ofTransaction = try fact { () throws(OpenSSLError) in try SubscriberFact(transaction) }
        reading.facts.append(ofTransaction)
        var (signedDate, digest) = (ofTransaction.signedDate, ofTransaction.digest)
        if let text = item.signedRenewalInfo {
            let info: VerifiedData<RenewalInfo> = try verify(text, &reading)
            let record: SubscriptionRecord
            do { record = try SubscriptionRecord(transaction, info.payload) } catch { throw DataRefusal(error) }
            let ofRenewalInfo = try fact { () throws(OpenSSLError) in try SubscriberFact(record) }
            reading.facts.append(ofRenewalInfo)
            (signedDate, digest) = (max(signedDate, ofRenewalInfo.signedDate), digest + ofRenewalInfo.digest)
        }
        // The status is as old as the newest signed data sent with it, as in a notification.
        let digestOfStatus = try fact { () throws(OpenSSLError) in
            try SHA256.hash(digest + Array("\(item.status.rawValue)".utf8))
        }
        reading.facts.append(
            SubscriberFact(
                .status(item.status), transactionID: transaction.transactionID,
                originalTransactionID: transaction.originalTransactionID, signedDate: signedDate,
                digest: digestOfStatus))
    }

    private func transaction(_ text: [UInt8], _ reading: inout Reading) throws(DataRefusal) -> SignedTransaction {
        try verify(text, &reading).payload
    }

    private func verify<Payload: SignedPayload>(
        _ text: [UInt8], _ reading: inout Reading
    ) throws(DataRefusal) -> VerifiedData<Payload> {
        let data: VerifiedData<Payload> = try verifier.verify(
            text, at: .ofSigning(otherwise: now.milliseconds / 1000))
        do { try origin.check(data.payload.origin) } catch { throw DataRefusal(error) }
        if !reading.chains.contains(where: { $0.leaf.digest == data.chain.leaf.digest }) {
            reading.chains.append(data.chain)
        }
        return data
    }

    private func fact<Value>(_ make: () throws(OpenSSLError) -> Value) throws(DataRefusal) -> Value {
        do { return try make() } catch { throw DataRefusal(VerificationFailure(.verificationUnavailable)) }
    }
}

extension DataRefusal {
    /// True if only this entry is affected: it cannot be read, does not name its app or environment, or its environment
    /// is not accepted. Data of another app makes the whole answer doubtful.
    fileprivate var concernsOneEntry: Bool {
        isGenuine && (code.hasPrefix("payload_") || Self.codesOfOneEntry.contains(code))
    }

    private static let codesOfOneEntry = [
        CheckFailure.bundleIDMissing, .appAppleIDMissing, .environmentMissing, .environmentNotAccepted,
    ].map(\.rawValue)
}
