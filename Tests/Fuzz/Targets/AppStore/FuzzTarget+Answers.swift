import AppStoreAPI
import OfferCore
import OfferEligibility

extension FuzzTarget {
    /// Answers of the App Store Server API. Each input is read as the answer of every endpoint.
    static let apiAnswer = FuzzTarget("api-answer") { input throws(BrokenPromise) in
        let id = TransactionNumber.neverIssued
        try checkReading(of: .subscriptionStatuses(of: id), input)
        try checkReading(of: .transactionHistory(of: id, after: nil), input)
        try checkReading(of: .transactionInfo(of: id), input)
        if let order = OrderNumber("M1") { try checkReading(of: .transactions(ofOrder: order), input) }
        try checkReading(of: .appTransactionInfo(of: id), input)
        let query = NotificationHistoryQuery(start: .min, end: .max)
        try checkReading(of: .notificationHistory(query, after: nil), input)
        try checkReading(of: .testNotification(), input)
        try checkReading(of: .testNotificationStatus("token"), input)
    }

    private static func checkReading<Answer: Hashable>(
        of call: APICall<Answer>, _ input: [UInt8]
    ) throws(BrokenPromise) {
        let answer: Answer
        do { answer = try call.answer(from: input) } catch {
            return try promise("no error quotes an answer", !Marked.isIn(error.reason))
        }
        try promise("an answer reads the same again", (try? call.answer(from: input)) == answer)
    }

    /// Answers of the legacy receipt service.
    static let verifyReceiptAnswer = FuzzTarget("verify-receipt-answer") { input throws(BrokenPromise) in
        let answer: ReceiptServiceAnswer
        do { answer = try ReceiptServiceAnswer(json: input, from: .production) } catch {
            return try promise("no error quotes an answer", !Marked.isIn("\(error)"))
        }
        guard let facts = try? answer.facts else { throw BrokenPromise(promise: "every fact has a hash") }
        try promise("each fact has a key of its own", Set(facts.map(\.key)).count == facts.count)
        for fact in facts {
            try promise(
                "what was not signed is marked as fetched",
                [.fetchedTransaction, .fetchedRenewalInfo].contains(fact.key.kind))
            let decoded = try? SubscriberFact(
                key: fact.key, originalTransactionID: fact.originalTransactionID, signedDate: fact.signedDate,
                digest: fact.digest, encoded: fact.encoded)
            try promise("a fact is stored without loss", decoded == fact)
        }
    }
}
