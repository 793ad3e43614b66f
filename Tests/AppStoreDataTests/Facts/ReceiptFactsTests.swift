import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Facts of receipts", .serialized)
    struct ReceiptFactsTests {
        private static let text: [UInt8] = [1, 2, 3]

        private static func facts(_ purchases: [TestReceipt.Purchase]) throws -> [SubscriberFact] {
            let message = try ReceiptSigner.standard.get().message(TestReceipt(purchases: purchases))
            return try ReceiptVerifier.verify(message).facts(text: text)
        }

        @Test("each purchase of a receipt is a fact as old as the receipt")
        func purchases() throws {
            let facts = try Self.facts([TestReceipt.Purchase(), TestReceipt.Purchase(transactionID: "43")])
            #expect(Set(facts.map(\.key.kind)) == [.receiptTransaction])
            #expect(Set(facts.map(\.key.id.text.description)) == ["2000000000000042", "43"])
            #expect(facts.map(\.signedDate) == Array(repeating: Timestamp(milliseconds: TestTime.now * 1000), count: 2))
            #expect(facts.map(\.digest) == Array(repeating: try SHA256.hash(Self.text), count: 2))
            let state = SubscriberState(
                of: SubscriberFacts(facts), environment: .sandbox, at: Timestamp(milliseconds: TestTime.now * 1000))
            #expect(state.history.isOfApp)
            #expect(state.subscriptions.map(\.status) == [.active])
            #expect(state.subscriptions.map(\.lastPeriod) == [.introductory])
        }

        @Test("a transaction that a receipt repeats is one fact, whatever the order")
        func repeated() throws {
            var refunded = TestReceipt.Purchase()
            refunded.put(.date(1712, "2025-06-02T10:00:00Z"))
            let one = try Self.facts([TestReceipt.Purchase(), refunded])
            #expect(one.count == 1)
            #expect(one == (try Self.facts([refunded, TestReceipt.Purchase()])))
        }
    }
}
