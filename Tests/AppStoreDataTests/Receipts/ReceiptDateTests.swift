import AppStoreData
import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Dates in receipts", .serialized)
    struct ReceiptDateTests {
        /// The second column is what GNU date prints with `+%s%3N`.
        @Test(
            "a date of RFC 3339 is read, with an offset without a colon too",
            arguments: [
                ("2020-07-22T17:39:06Z", 1_595_439_546_000), ("2021-04-03T22:38:45+0300", 1_617_478_725_000),
                ("2021-04-03T22:38:45+03:00", 1_617_478_725_000), ("2021-04-03T22:38:45-0930", 1_617_523_725_000),
                ("4001-01-01T00:00:00Z", 64_092_211_200_000), ("4001-01-01T03:00:00+0300", 64_092_211_200_000),
                ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1000),
                ("2024-02-29T12:00:00Z", 1_709_208_000_000),
                ("2000-02-29T00:00:00Z", 951_782_400_000), ("2024-03-01T00:00:00Z", 1_709_251_200_000),
                ("2020-07-22T17:39:06.5Z", 1_595_439_546_500), ("2020-07-22T17:39:06.123456789Z", 1_595_439_546_123),
                ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
            ] as [(String, Int64)])
        func dates(text: String, milliseconds: Int64) throws {
            #expect(try purchaseDate(text) == Timestamp(milliseconds: milliseconds))
        }

        @Test(
            "any other text is refused",
            arguments: [
                "2020-07-22", "2020-07-22T17:39:06", "2020-07-22 17:39:06Z", "2020-07-22T17:39:06z",
                "20-07-22T17:39:06Z",
                "2020-7-22T17:39:06Z", "2020-13-01T00:00:00Z", "2020-00-01T00:00:00Z", "2020-01-00T00:00:00Z",
                "2020-01-32T00:00:00Z", "2021-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2020-04-31T00:00:00Z",
                "2020-07-22T24:00:00Z", "2020-07-22T17:60:00Z", "2020-07-22T17:39:60Z", "2020-07-22T17:39:06Z ",
                " 2020-07-22T17:39:06Z", "2020-07-22T17:39:06ZZ", "2020-07-22T17:39:06.Z", "2020-07-22T17:39:06+03",
                "2020-07-22T17:39:06+2400", "2020-07-22T17:39:06+0360", "2020-07-22T17:39:06.1234567890Z",
                "+020-07-22T17:39:06Z", "2020-07-22T17:39:06+0300Z", "1595439546000", "٢٠٢٠-07-22T17:39:06Z", " ",
            ])
        func otherTexts(text: String) throws {
            #expect(
                throws: ReceiptFailure.payload(ReceiptPayloadError(.wrongDate, attribute: 1704, purchase: 0))
            ) { try purchaseDate(text) }
        }

        private func purchaseDate(_ text: String) throws -> Timestamp? {
            var purchase = TestReceipt.Purchase()
            purchase.put(.date(1704, text))
            let message = try ReceiptSigner.standard.get().message(TestReceipt(purchases: [purchase]))
            return try ReceiptVerifier.verify(message).receipt.purchases.first?.purchaseDate
        }
    }
}
