import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// The tests of receipts run one after the other, because a key signs through one file.
@Suite("App receipts", .serialized)
enum ReceiptTests {}

extension ReceiptTests {
    @Suite("Verification of app receipts", .serialized)
    struct ReceiptVerifierTests {
        private let signer: ReceiptSigner

        init() throws { signer = try ReceiptSigner.standard.get() }

        private func verify(_ receipt: TestReceipt) throws -> AppReceipt {
            try ReceiptVerifier.verify(signer.message(receipt)).receipt
        }

        @Test("every attribute of a receipt and of a purchase is read")
        func attributes() throws {
            let receipt = try verify(TestReceipt(purchases: [TestReceipt.Purchase()]))
            #expect(receipt.type == .sandbox && receipt.type.environmentName == "Sandbox")
            #expect(receipt.bundleID.text.description == TestReceipt.bundleID)
            #expect(receipt.creationDate == Timestamp(milliseconds: TestTime.now * 1000))
            #expect(receipt.appAppleID == 0)
            #expect(receipt.appVersion?.description == "7" && receipt.originalAppVersion?.description == "1.0")
            #expect(receipt.ageRating?.description == "4+")
            #expect(receipt.expirationDate == nil && receipt.unexplainedDate == nil)
            #expect(receipt.originalPurchaseDate == Timestamp(milliseconds: 1_375_340_400_000))
            #expect(receipt.purchases.count == 1)
            let purchase = try #require(receipt.purchases.first)
            #expect(purchase.quantity == 1 && purchase.productType == .autoRenewableSubscription)
            #expect(purchase.productID.text.description == "com.example.app.pro.monthly")
            #expect(purchase.transactionID.text.description == "2000000000000042")
            #expect(purchase.originalTransactionID?.text.description == "2000000000000041")
            #expect(purchase.purchaseDate == Timestamp(milliseconds: 1_748_772_000_000))
            #expect(purchase.originalPurchaseDate == Timestamp(milliseconds: 1_746_093_600_000))
            #expect(purchase.expirationDate == Timestamp(milliseconds: 1_751_364_000_000))
            #expect(purchase.cancellationDate == nil)
            #expect(purchase.webOrderLineItemID == 2_000_000_000_000_099)
            #expect(purchase.isInTrialPeriod == false && purchase.isInIntroductoryPricePeriod == true)
            #expect(purchase.promotionalOfferID == nil)
        }

        @Test("the certificates that were verified are named")
        func certificates() throws {
            let chain = try ReceiptVerifier.verify(signer.message(TestReceipt())).chain
            #expect(chain.leaf.der == signer.chain.leaf && chain.intermediate?.der == signer.chain.intermediate)
            #expect(chain.root.der == signer.chain.root && !chain.isXcode)
        }

        @Test("signed attributes, SHA-1 and sha256WithRSAEncryption are accepted")
        func algorithms() throws {
            let receipt = TestReceipt()
            let attributes = try ReceiptSigner.attributes(of: receipt.payload)
            let time = TestMessage.attribute(
                TestMessage.OID.signingTime, DER.value(0x17, Array("250615150640Z".utf8)))
            // In DER, the shorter attribute with the time comes second.
            let signed = try signer.message(receipt, attributes: [attributes[0], time, attributes[1]])
            #expect(throws: Never.self) { try ReceiptVerifier.verify(signed) }
            let sha1 = try signer.message(content: receipt.payload, digest: "sha1")
            #expect(throws: Never.self) { try ReceiptVerifier.verify(sha1) }
            var named = try signer.message(receipt)
            named.signers[0].signatureAlgorithm = TestMessage.OID.sha256WithRSA
            #expect(throws: Never.self) { try ReceiptVerifier.verify(named) }
        }

        @Test("BER with indefinite lengths and content in segments means the same", arguments: [1, 7, 100, 4096])
        func segments(size: Int) throws {
            var message = try signer.message(TestReceipt(purchases: [TestReceipt.Purchase()]))
            let expected = try ReceiptVerifier.verify(message).receipt
            message.encoding = .ber(segment: size)
            #expect(try ReceiptVerifier.verify(message).receipt == expected)
        }

        @Test("the certificates may be enclosed in any order and without the root")
        func order() throws {
            var message = try signer.message(TestReceipt())
            message.certificates.reverse()
            #expect(throws: Never.self) { try ReceiptVerifier.verify(message) }
            message.certificates = [signer.chain.leaf, signer.chain.intermediate]
            #expect(throws: Never.self) { try ReceiptVerifier.verify(message) }
        }

        @Test("of two intermediates with the same name and key, the one valid at the creation date counts")
        func twoIntermediates() throws {
            let expired = try ReceiptSigner(intermediate: { $0.notAfter = TestTime.now - 1 })
            for certificates in [
                [signer.chain.leaf, expired.chain.intermediate, signer.chain.intermediate],
                [signer.chain.leaf, signer.chain.intermediate, expired.chain.intermediate],
            ] {
                var message = try signer.message(TestReceipt())
                message.certificates = certificates
                let chain = try ReceiptVerifier.verify(message).chain
                #expect(chain.intermediate?.der == signer.chain.intermediate)
            }
        }

        @Test("certificates that have expired since the creation date are accepted")
        func expiredSince() throws {
            let later = TestTime.end + 86400
            #expect(throws: Never.self) { try ReceiptVerifier.verify(signer.message(TestReceipt()), at: later) }
        }

        @Test("a chain with SHA-1 is accepted")
        func sha1Chain() throws {
            let signer = try ReceiptSigner(
                root: { $0.digest = "sha1" }, intermediate: { $0.digest = "sha1" }, leaf: { $0.digest = "sha1" })
            let verifier = try ReceiptVerifier(trusting: [signer.chain.root])
            let message = try signer.message(TestReceipt()).encoded
            #expect(throws: Never.self) {
                try verifier.verify(message, at: Timestamp(milliseconds: TestTime.now * 1000))
            }
        }

        @Test(
            "the type of a receipt tells the environment",
            arguments: [
                ("Production", "Production"), ("ProductionVPP", "Production"), ("ProductionSandbox", "Sandbox"),
                ("ProductionVPPSandbox", "Sandbox"),
            ])
        func environments(type: String, environment: String) throws {
            var receipt = TestReceipt()
            receipt.put(.text(0, type))
            #expect(try verify(receipt).type.environmentName == environment)
        }

        @Test("unknown attributes are ignored, even twice and with any value, and so is any version")
        func unknownAttributes() throws {
            var receipt = TestReceipt(purchases: [TestReceipt.Purchase()])
            let expected = try verify(receipt)
            receipt.attributes.insert(.init(type: 99, version: 300, value: [0xFF, 0xFF]), at: 0)
            receipt.attributes.append(.init(type: 99, value: []))
            receipt.attributes.append(.init(type: 1_000_000_000_000, value: [1]))
            receipt.attributes.append(.init(type: 7, version: 0, value: [2]))
            #expect(try verify(receipt) == expected)
        }

        @Test("a receipt with only the necessary attributes is accepted")
        func necessaryAttributes() throws {
            var purchase = TestReceipt.Purchase()
            purchase.attributes.removeAll { ![1702, 1703, 1704].contains($0.type) }
            var receipt = TestReceipt(purchases: [purchase])
            receipt.attributes.removeAll { ![0, 2, 12, 17].contains($0.type) }
            let found = try verify(receipt)
            #expect(found.deviceHash == nil && found.appVersion == nil && found.appAppleID == nil)
            #expect(found.purchases.count == 1 && found.purchases.first?.quantity == nil)
        }

        @Test("empty optional texts and dates mean that there is none")
        func emptyValues() throws {
            var purchase = TestReceipt.Purchase()
            purchase.put(.date(1708, ""))
            purchase.put(.text(1705, ""))
            purchase.put(.text(1721, ""))
            var receipt = TestReceipt(purchases: [purchase])
            receipt.put(.text(19, ""))
            receipt.put(.date(21, ""))
            let found = try verify(receipt)
            #expect(found.originalAppVersion == nil && found.expirationDate == nil)
            #expect(found.purchases.first?.expirationDate == nil && found.purchases.first?.promotionalOfferID == nil)
            #expect(found.purchases.first?.originalTransactionID == nil)
        }

        @Test(
            "numbers are read up to 64 bits with any number of leading zeros",
            arguments: [
                ([0], 0), ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2A], 42), ([0x7F], 127), ([0, 0xFF], 255),
                ([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], UInt64(Int64.max)),
                ([0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], UInt64.max),
            ] as [([UInt8], UInt64)])
        func numbers(content: [UInt8], expected: UInt64) throws {
            var purchase = TestReceipt.Purchase()
            purchase.put(.init(type: 1711, value: DER.value(0x02, content)))
            #expect(try verify(TestReceipt(purchases: [purchase])).purchases.first?.webOrderLineItemID == expected)
        }

        @Test("thousands of purchases are read in their order")
        func manyPurchases() throws {
            let receipt = TestReceipt(
                purchases: (0..<2000).map { TestReceipt.Purchase(transactionID: String(2_000_000_000_000_000 + $0)) })
            let found = try verify(receipt).purchases
            #expect(found.count == 2000)
            #expect(found.last?.transactionID.text.description == "2000000000001999")
            #expect(Set(found.map(\.transactionID)).count == 2000)
        }

        @Test("a receipt expires at the time of attribute 21")
        func expiry() throws {
            var receipt = TestReceipt()
            receipt.put(.text(0, "ProductionVPP"))
            receipt.put(.date(21, "2025-06-15T15:06:41Z"))
            let message = try signer.message(receipt)
            #expect(try ReceiptVerifier.verify(message).receipt.type == .productionVolumePurchase)
            #expect(throws: ReceiptFailure.refused(.expired)) {
                try ReceiptVerifier.verify(message, at: TestTime.now + 1)
            }
        }

        @Test("the device hash is compared where a device identifier is given")
        func deviceHash() throws {
            let message = try signer.message(TestReceipt())
            let device = try #require(DeviceIdentifier(TestReceipt.device))
            #expect(throws: Never.self) { try ReceiptVerifier.verify(message, device: device) }
            for bit in [0, 127] {
                let other = try #require(DeviceIdentifier(TestReceipt.device.turningBit(bit)))
                #expect(throws: ReceiptFailure.refused(.anotherDevice)) {
                    try ReceiptVerifier.verify(message, device: other)
                }
            }
        }

        @Test("a device identifier has 16 or 6 bytes, in hexadecimal digits too")
        func deviceIdentifiers() {
            #expect(DeviceIdentifier(hexadecimal: "00254bFFfe01")?.bytes == [0x00, 0x25, 0x4B, 0xFF, 0xFE, 0x01])
            #expect(DeviceIdentifier(Array(0..<16))?.bytes.count == 16)
            for count in [0, 5, 7, 15, 17] { #expect(DeviceIdentifier([UInt8](repeating: 1, count: count)) == nil) }
            for text in ["", "00254bfffe0", "00254bfffe0g", "00:25:4b:ff:fe:01"] {
                #expect(DeviceIdentifier(hexadecimal: text) == nil)
            }
        }

        @Test("a receipt of Xcode is accepted in development, if Xcode's certificate is a root")
        func xcode() throws {
            let xcode = try ReceiptSigner.xcode.get()
            var purchase = TestReceipt.Purchase(transactionID: "0")
            purchase.remove(1705)
            var message = try xcode.message(TestReceipt.xcode(purchases: [purchase]))
            message.encoding = .ber(segment: 1000)
            message.signers[0].signatureAlgorithm = TestMessage.OID.sha256WithRSA
            let verifier = try ReceiptVerifier(trusting: [xcode.certificate], isDevelopment: true)
            let verified = try verifier.verify(
                message.encoded, at: Timestamp(milliseconds: TestTime.now * 1000))
            #expect(verified.chain.isXcode && verified.receipt.type == .xcode)
            #expect(verified.receipt.expirationDate == Timestamp(milliseconds: 64_092_211_200_000))
            #expect(verified.receipt.purchases.first?.transactionID.text.description == "0")
        }

        @Test("a receipt of Xcode without purchases has none")
        func xcodeWithoutPurchases() throws {
            let xcode = try ReceiptSigner.xcode.get()
            let verifier = try ReceiptVerifier(trusting: [xcode.certificate], isDevelopment: true)
            let verified = try verifier.verify(
                xcode.message(.xcode()).encoded, at: Timestamp(milliseconds: TestTime.now * 1000))
            #expect(verified.receipt.purchases.isEmpty)
        }
    }
}
