import AppStoreData
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Transaction IDs of receipts that are not verified", .serialized)
    struct UnverifiedTransactionIDTests {
        private func first(in receipt: TestReceipt, isBER: Bool = false) throws -> String? {
            var message = try ReceiptSigner.xcode.get().message(receipt)
            if isBER { message.encoding = .ber(segment: 4096) }
            return try UnverifiedTransactionID.first(inReceipt: message.encoded)?.transactionID.text.description
        }

        @Test("the ID of a purchase is found in DER and BER, whoever signed", arguments: [false, true])
        func found(isBER: Bool) throws {
            let purchases = [TestReceipt.Purchase(transactionID: "0"), TestReceipt.Purchase(transactionID: "1")]
            #expect(try first(in: .xcode(purchases: purchases), isBER: isBER) == "0")
        }

        @Test("the original transaction ID serves where there is no other")
        func original() throws {
            var purchase = TestReceipt.Purchase()
            purchase.remove(1703)
            #expect(try first(in: TestReceipt(purchases: [purchase])) == "2000000000000041")
            purchase.remove(1705)
            #expect(try first(in: TestReceipt(purchases: [purchase])) == nil)
        }

        @Test("a receipt without purchases has none")
        func none() throws {
            #expect(try first(in: .xcode()) == nil)
        }

        @Test("a wrong signature does not matter, but the form does")
        func forms() throws {
            var message = try ReceiptSigner.xcode.get().message(TestReceipt(purchases: [TestReceipt.Purchase()]))
            message.signers[0].signature = []
            #expect(try UnverifiedTransactionID.first(inReceipt: message.encoded) != nil)
            message.content = [0x31]
            #expect(throws: ReceiptFailure.payload(ReceiptPayloadError(.notSet(.truncated)))) {
                try UnverifiedTransactionID.first(inReceipt: message.encoded)
            }
            #expect(throws: ReceiptFailure.notVerified(VerificationFailure(.receiptNotSignedData))) {
                try UnverifiedTransactionID.first(inReceipt: [1, 2, 3])
            }
        }
    }
}

@Suite("Legacy transaction receipts")
struct LegacyTransactionReceiptTests {
    private static func receipt(info: String) -> [UInt8] {
        let encoded = String(decoding: Base64.text(of: Array(info.utf8)), as: UTF8.self)
        return Array(
            "{\n\t\"signature\" = \"AbCd\";\n\t\"purchase-info\" = \"\(encoded)\";\n\t\"pod\" = \"100\";\n}".utf8)
    }

    private static let info =
        "{\n\t\"original-transaction-id\" = \"33993398\";\n\t\"transaction-id\" = \"33993399\";\n\t\"bid\" = \"com.example\";\n}"

    @Test(
        "the transaction ID is found whatever the white space",
        arguments: [info, "{\"transaction-id\"=\"33993399\"}", "\"transaction-id\"\n=\t\"33993399\";"])
    func found(info: String) throws {
        let receipt = try LegacyTransactionReceipt(Self.receipt(info: info))
        #expect(receipt.transactionID?.transactionID.text.description == "33993399")
    }

    @Test(
        "purchase info without a transaction ID has none",
        arguments: [
            "", "{}", "{\"original-transaction-id\" = \"1\";}", "{\"transaction-id\" = 1;}",
            "{\"transaction-id\" \"1\";}",
            "{\"transaction-id\" = \"1", "\"", "{\"bid\" = \"transaction-id\";}",
        ])
    func none(info: String) throws {
        #expect(try LegacyTransactionReceipt(Self.receipt(info: info)).transactionID == nil)
    }

    @Test("anything else is refused")
    func refused() {
        for text in ["", "{}", "\"purchase-info\" = ", "\"purchase-info\" = \"e30=", "\"purchase-info\""] {
            #expect(throws: LegacyTransactionReceiptError.noPurchaseInfo) {
                try LegacyTransactionReceipt(Array(text.utf8))
            }
        }
        #expect(throws: LegacyTransactionReceiptError.purchaseInfoNotBase64) {
            try LegacyTransactionReceipt(Array("\"purchase-info\" = \"e30\";".utf8))
        }
        #expect(throws: LegacyTransactionReceiptError.tooLarge) {
            try LegacyTransactionReceipt([UInt8](repeating: 0x20, count: LegacyTransactionReceipt.maximumSize + 1))
        }
        for id in ["", String(repeating: "1", count: 65)] {
            #expect(throws: LegacyTransactionReceiptError.wrongTransactionID) {
                try LegacyTransactionReceipt(Self.receipt(info: "{\"transaction-id\" = \"\(id)\";}"))
            }
        }
    }

    @Test("a receipt cut off anywhere is refused or has no ID")
    func truncation() {
        let receipt = Self.receipt(info: Self.info)
        for count in 0..<(receipt.count - 20) {
            let read = try? LegacyTransactionReceipt(Array(receipt[..<count]))
            #expect(read?.transactionID == nil, "\(count) bytes")
        }
    }
}
