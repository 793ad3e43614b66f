import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Forged app receipts", .serialized)
    struct ReceiptForgeryTests {
        @Test("a forged receipt is refused for its own reason", arguments: ReceiptForgery.all)
        func forgeries(forgery: ReceiptForgery) throws {
            let signer = try ReceiptSigner.standard.get()
            let attempt = try forgery.make(signer)
            let verifier = try ReceiptVerifier(
                trusting: attempt.roots ?? [signer.chain.root], isDevelopment: attempt.isDevelopment)
            #expect(throws: forgery.failure) {
                try verifier.verify(
                    attempt.receipt, at: Timestamp(milliseconds: attempt.seconds * 1000), device: attempt.device)
            }
        }

        @Test("there are at least 60 forgeries, each with its own name")
        func names() {
            #expect(ReceiptForgery.all.count >= 60)
            #expect(Set(ReceiptForgery.all.map(\.testDescription)).count == ReceiptForgery.all.count)
        }

        @Test("every failure has a code and a sentence of its own")
        func sentences() {
            let failures = ReceiptRefusal.allCases.map(ReceiptFailure.refused)
            #expect(Set(failures.map(\.sentence)).count == failures.count)
            #expect(Set(failures.map(\.code)).count == failures.count)
            #expect(failures.allSatisfy { $0.sentence.hasSuffix(".") })
            let payload = ReceiptFailure.payload(ReceiptPayloadError(.repeated, attribute: 1703, purchase: 4))
            #expect(payload.code == "receipt_unreadable")
            #expect(payload.sentence == "Purchase 4 of the receipt has attribute 1703 twice.")
        }

        @Test("a receipt cut off anywhere is refused", arguments: [false, true])
        func truncation(isBER: Bool) throws {
            let receipt = try small(isBER: isBER)
            let verifier = try verifier()
            for count in 0..<receipt.count {
                #expect(throws: ReceiptFailure.self, "\(count) bytes") {
                    try verifier.verify(Array(receipt[..<count]), at: now)
                }
            }
        }

        @Test("a receipt with any byte changed is refused or means the same", arguments: [false, true])
        func changedBytes(isBER: Bool) throws {
            let receipt = try small(isBER: isBER)
            let verifier = try verifier()
            let genuine = try verifier.verify(receipt, at: now)
            var random = SplitMix64(seed: 17)
            for index in receipt.indices {
                let changed = receipt.turningBit(8 * index + Int.random(in: 0..<8, using: &random))
                guard let accepted = try? verifier.verify(changed, at: now) else { continue }
                #expect(accepted.receipt == genuine.receipt, "byte \(index)")
                #expect(accepted.chain.leaf.der == genuine.chain.leaf.der, "byte \(index)")
                #expect(accepted.chain.intermediate?.der == genuine.chain.intermediate?.der, "byte \(index)")
            }
        }

        @Test("signed content with any byte changed is read or refused without a crash")
        func changedContent() throws {
            let content = TestReceipt(purchases: [TestReceipt.Purchase()]).payload
            var message = try ReceiptSigner.standard.get().message(content: content)
            for index in content.indices {
                message.content = content
                message.content[index] ^= 0xFF
                _ = try? UnverifiedTransactionID.first(inReceipt: message.encoded)
            }
        }

        private let now = Timestamp(milliseconds: TestTime.now * 1000)

        private func verifier() throws -> ReceiptVerifier {
            try ReceiptVerifier(trusting: [ReceiptSigner.standard.get().chain.root])
        }

        private func small(isBER: Bool) throws -> [UInt8] {
            let signer = try ReceiptSigner.standard.get()
            let receipt = TestReceipt(purchases: [TestReceipt.Purchase()])
            var message = try signer.message(receipt, attributes: ReceiptSigner.attributes(of: receipt.payload))
            message.certificates.removeLast()
            if isBER { message.encoding = .ber(segment: 64) }
            return message.encoded
        }
    }
}
