import AppStoreData
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Inspection of receipts", .serialized)
    struct ReceiptInspectionTests {
        private let signer: ReceiptSigner

        init() throws { signer = try ReceiptSigner.standard.get() }

        private func inspect(
            _ receipt: TestReceipt, _ options: InspectionOptions = InspectionOptions(), at seconds: Int64 = TestTime.now
        ) throws -> Inspected {
            try Inspected(signer.message(receipt).encoded, trusting: signer.chain.root, options, at: seconds)
        }

        @Test("a receipt is printed with the names and types of verifyReceipt")
        func names() throws {
            let inspected = try inspect(TestReceipt(purchases: [TestReceipt.Purchase()]))
            #expect(inspected.isVerified == true && inspected.kind == "receipt")
            let payload = try #require(inspected.payload)
            let purchases = try #require(payload["in_app"] as? [[String: String]])
            #expect(
                purchases == [
                    [
                        "quantity": "1", "product_id": "com.example.app.pro.monthly",
                        "transaction_id": "2000000000000042", "original_transaction_id": "2000000000000041",
                        "purchase_date_ms": "1748772000000", "original_purchase_date_ms": "1746093600000",
                        "expires_date_ms": "1751364000000", "web_order_line_item_id": "2000000000000099",
                        "is_trial_period": "false", "is_in_intro_offer_period": "true",
                    ]
                ])
            let texts = payload.compactMapValues { $0 as? String }
            #expect(
                texts == [
                    "receipt_type": "ProductionSandbox", "bundle_id": "com.example.app", "application_version": "7",
                    "original_application_version": "1.0", "receipt_creation_date_ms": "\(TestTime.now)000",
                    "original_purchase_date_ms": "1375340400000",
                ])
            #expect(payload["adam_id"] as? Int == 0 && payload.count == texts.count + 2)
            #expect(
                inspected.subjects == ["CN=Test Receipt Signing", "CN=Test Developer Relations CA", "CN=Test Root CA"])
            #expect(inspected.effectiveDate == "2025-06-15T15:06:40.000Z")
        }

        @Test("a time counts for the expiry and for the certificates")
        func time() throws {
            var receipt = TestReceipt()
            receipt.put(.date(21, "2025-06-16T00:00:00Z"))
            #expect(try inspect(receipt).isVerified == true)
            #expect(try inspect(receipt, at: TestTime.now + 86400).reason == "receipt_expired")
            func options(_ seconds: Int64) -> InspectionOptions {
                InspectionOptions(time: Timestamp(milliseconds: seconds * 1000))
            }
            #expect(try inspect(receipt, options(TestTime.now), at: TestTime.now + 86400).isVerified == true)
            #expect(try inspect(TestReceipt(), at: TestTime.end + 1).isVerified == true)
            #expect(try inspect(TestReceipt(), options(TestTime.end + 1)).reason == "certificate_expired")
        }

        @Test("the app, the environment, the device and the kind are checked if they are named")
        func demands() throws {
            let app = try BundleID(utf8: Array(TestReceipt.bundleID.utf8))
            let device = DeviceIdentifier(TestReceipt.device)
            var options = InspectionOptions(
                kind: .receipt, origin: ExpectedOrigin(bundleID: app, environments: [.sandbox]), device: device)
            #expect(try inspect(TestReceipt(), options).isVerified == true)
            options.device = DeviceIdentifier([1, 2, 3, 4, 5, 6])
            #expect(try inspect(TestReceipt(), options).reason == "receipt_another_device")
            options.device = nil
            options.origin = ExpectedOrigin(bundleID: app, environments: [.production])
            #expect(try inspect(TestReceipt(), options).reason == "environment_not_accepted")
            options.kind = .transaction
            let other = try inspect(TestReceipt(), options)
            #expect(other.reason == "payload_of_another_kind" && other.kind == "receipt" && other.payload != nil)
        }

        @Test("a forged receipt is refused but shown")
        func forged() throws {
            var message = try signer.message(TestReceipt(purchases: [TestReceipt.Purchase()]))
            message.signers[0].signature = Array(repeating: 1, count: 256)
            let inspected = try Inspected(message.encoded, trusting: signer.chain.root)
            #expect(inspected.isVerified == false && inspected.reason == "signature_invalid")
            #expect(inspected.payload?["bundle_id"] as? String == TestReceipt.bundleID)
            #expect(inspected.certificates.count == 3)
        }

        @Test("a receipt that cannot be read has no payload")
        func unreadable() throws {
            var receipt = TestReceipt()
            receipt.remove(2)
            let inspected = try inspect(receipt)
            #expect(inspected.reason == "receipt_unreadable" && inspected.sentence == "The receipt lacks attribute 2.")
            #expect(inspected.payload == nil && inspected.members["payload"] != nil)
        }

        @Test("Xcode's receipt needs development and says who signed it", arguments: [false, true])
        func xcode(isDevelopment: Bool) throws {
            let xcode = try ReceiptSigner.xcode.get()
            var message = try xcode.message(.xcode(purchases: [TestReceipt.Purchase(transactionID: "0")]))
            message.encoding = .ber(segment: 100)
            let inspected = try Inspected(
                message.encoded, trusting: xcode.certificate, isDevelopment: isDevelopment)
            #expect(inspected.isVerified == isDevelopment)
            #expect(inspected.reason == (isDevelopment ? nil : "receipt_xcode_needs_development"))
            #expect((inspected.members["signedBy"] as? String == "xcode") == isDevelopment)
        }
    }
}
