import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

/// A receipt that must be refused, and why.
struct ReceiptForgery: CustomTestStringConvertible, Sendable {
    /// What a verifier is asked.
    struct Attempt {
        var receipt: [UInt8]
        /// The trusted roots in DER; the standard root if nil.
        var roots: [[UInt8]]?
        var isDevelopment = false
        var seconds = TestTime.now
        var device: DeviceIdentifier?
    }

    let testDescription: String
    let failure: ReceiptFailure
    let make: @Sendable (_ signer: ReceiptSigner) throws -> Attempt

    /// Any attempt.
    init(
        _ name: String, _ failure: ReceiptFailure, make: @escaping @Sendable (_ signer: ReceiptSigner) throws -> Attempt
    ) {
        testDescription = name
        self.failure = failure
        self.make = make
    }

    /// Any bytes.
    static func bytes(
        _ name: String, _ code: VerificationFailure.Code,
        _ make: @escaping @Sendable (_ signer: ReceiptSigner) throws -> [UInt8]
    ) -> ReceiptForgery {
        ReceiptForgery(name, .notVerified(VerificationFailure(code))) { Attempt(receipt: try make($0)) }
    }

    /// A valid message, changed after it was signed.
    static func message(
        _ name: String, _ code: VerificationFailure.Code,
        _ change: @escaping @Sendable (_ message: inout TestMessage, _ signer: ReceiptSigner) throws -> Void
    ) -> ReceiptForgery {
        bytes(name, code) { signer in
            var message = try signer.message(TestReceipt())
            try change(&message, signer)
            return message.encoded
        }
    }

    /// A valid message of another chain, whose root is the only trusted one.
    static func chain(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        _ make: @escaping @Sendable () throws -> ReceiptSigner
    ) -> ReceiptForgery {
        ReceiptForgery(name, .notVerified(VerificationFailure(code, role))) { _ in
            let signer = try make()
            return Attempt(receipt: try signer.message(TestReceipt()).encoded, roots: [signer.chain.root])
        }
    }

    /// Any signed content.
    static func content(
        _ name: String, _ reason: ReceiptPayloadError.Reason, _ attribute: UInt64? = nil,
        _ make: @escaping @Sendable () -> [UInt8]
    ) -> ReceiptForgery {
        ReceiptForgery(name, .payload(ReceiptPayloadError(reason, attribute: attribute))) { signer in
            Attempt(receipt: try signer.message(content: make()).encoded)
        }
    }

    /// A receipt that was changed before it was signed.
    static func receipt(
        _ name: String, _ reason: ReceiptPayloadError.Reason, _ attribute: UInt64? = nil,
        _ change: @escaping @Sendable (_ receipt: inout TestReceipt) -> Void
    ) -> ReceiptForgery {
        content(name, reason, attribute) {
            var receipt = TestReceipt()
            change(&receipt)
            return receipt.payload
        }
    }

    /// The second purchase of a receipt, changed before it was signed.
    static func purchase(
        _ name: String, _ reason: ReceiptPayloadError.Reason, _ attribute: UInt64? = nil,
        _ change: @escaping @Sendable (_ purchase: inout TestReceipt.Purchase) -> Void
    ) -> ReceiptForgery {
        ReceiptForgery(name, .payload(ReceiptPayloadError(reason, attribute: attribute, purchase: 1))) { signer in
            var purchase = TestReceipt.Purchase()
            change(&purchase)
            let receipt = TestReceipt(purchases: [TestReceipt.Purchase(), purchase])
            return Attempt(receipt: try signer.message(receipt).encoded)
        }
    }

    static let all =
        shapes + messages + algorithms + attributes + certificates + links + refusals + contents + receipts + purchases
}
