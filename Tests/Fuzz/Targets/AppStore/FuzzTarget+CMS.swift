import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility

extension FuzzTarget {
    /// App receipts as CMS messages, in BER or DER.
    static let cms = FuzzTarget("cms") { input throws(BrokenPromise) in
        let message: SignedMessage
        do throws(SignedMessageError) { message = try SignedMessage(ber: input) } catch {
            try promise("no error quotes a message", !Marked.isIn("\(error)"))
            try promise("an unreadable message is no receipt", (try? receipts.verifyReceipt(input, at: now)) == nil)
            return
        }
        try checkMessage(message, of: input)
        try checkReceipt(input)
        let id: UnverifiedTransactionID?
        do throws(ReceiptFailure) { id = try UnverifiedTransactionID.first(inReceipt: input) } catch {
            return try promise("no error quotes a receipt", !Marked.isIn("\(error)") && !Marked.isIn(error.sentence))
        }
        if let id { try checkLength(of: id) }
    }

    private static func checkMessage(
        _ message: borrowing SignedMessage, of input: [UInt8]
    ) throws(BrokenPromise) {
        try promise("the content is no larger than the message", message.unverifiedContent.count <= input.count)
        let certificates = message.certificates
        try promise("a message has few certificates", certificates.count <= SignedMessage.maximumCertificates)
        let signer = message.signerCertificate
        try promise("the signer's certificate is enclosed", certificates.contains { $0.digest == signer.digest })
        let first = verification(of: message)
        try promise("verifying twice gives one outcome", first == verification(of: message))
        switch first {
        case .success(let content):
            try promise("what is verified is the content", content == message.unverifiedContent)
            try promise("only what a known key signed verifies", AppStoreKeys.isGenuine(content: content))
        case .failure(let error): try promise("no error quotes a message", !Marked.isIn("\(error)"))
        }
    }

    private static func verification(
        of message: borrowing SignedMessage
    ) -> Result<[UInt8], SignedMessageError> {
        do throws(SignedMessageError) { return .success(try message.verifiedContent()) } catch {
            return .failure(error)
        }
    }

    private static func checkReceipt(_ input: [UInt8]) throws(BrokenPromise) {
        let verified: VerifiedReceipt
        do throws(DataRefusal) { verified = try receipts.verifyReceipt(input, at: now) } catch {
            return try promise("a refusal never quotes the data", !Marked.isIn("\(error)"))
        }
        let content = (try? SignedMessage(ber: input).unverifiedContent) ?? []
        try promise("only what a trusted chain signed is a receipt", AppStoreKeys.isGenuine(content: content))
        try promise("a receipt is what its content says", (try? AppReceipt(content: content)) == verified.receipt)
        try promise(
            "a trusted root signed the chain",
            AppStoreKeys.receipts[2...].contains { $0.digest == verified.chain.root.digest })
        try promise(
            "Xcode signs receipts of Xcode only", !verified.chain.isXcode || verified.receipt.environment == .xcode)
        let transactions = verified.transactions
        try promise("each purchase is a transaction", transactions.count == verified.receipt.purchases.count)
    }

    static func checkLength(of id: UnverifiedTransactionID) throws(BrokenPromise) {
        try promise("a transaction ID is short", (1...64).contains(id.transactionID.text.utf8.count))
    }

    private static let receipts = AppStoreVerifier(roots: AppStoreKeys.roots, isDevelopment: true)
    private static let now = Timestamp(milliseconds: AppStoreKeys.now * 1000)
}
