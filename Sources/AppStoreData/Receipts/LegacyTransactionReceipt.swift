import OfferCore

/// A receipt of a single transaction, from iOS 6 and earlier: `SKPaymentTransaction.transactionReceipt`.
///
/// Its signature is not verified, because the certificate of its issuer is not enclosed. Only its transaction ID is
/// read.
package struct LegacyTransactionReceipt: Hashable, Sendable {
    /// The maximum size in bytes. Genuine receipts have about 4 kB.
    package static let maximumSize = 64 * 1024

    /// The transaction ID; nil if the receipt names none.
    package let transactionID: UnverifiedTransactionID?

    /// - Parameter text: a property list in text form, decoded from base64.
    package init(_ text: [UInt8]) throws(LegacyTransactionReceiptError) {
        guard text.count <= Self.maximumSize else { throw .tooLarge }
        guard let info = Self.value(of: "purchase-info", in: text) else { throw .noPurchaseInfo }
        guard let list = Base64.bytes(of: info) else { throw .purchaseInfoNotBase64 }
        guard let id = Self.value(of: "transaction-id", in: list) else {
            transactionID = nil
            return
        }
        do { transactionID = UnverifiedTransactionID(try TransactionID(utf8: id)) } catch {
            throw .wrongTransactionID
        }
    }

    /// Finds the value in `"name" = "value"`, with any white space around the equals sign.
    private static func value(of name: String, in text: [UInt8]) -> [UInt8]? {
        var rest = text[...]
        while let quote = rest.firstIndex(of: quotationMark) {
            rest = rest[(quote + 1)...]
            guard let string = popString(from: &rest) else { return nil }
            guard string.elementsEqual(name.utf8) else { continue }
            rest = rest.drop(while: \.isASCIIWhiteSpace)
            guard rest.popFirst() == UInt8(ascii: "=") else { continue }
            rest = rest.drop(while: \.isASCIIWhiteSpace)
            return rest.popFirst() == quotationMark ? popString(from: &rest).map(Array.init) : nil
        }
        return nil
    }

    /// Removes and returns the rest of a quoted string. It also removes the closing quotation mark.
    private static func popString(from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: quotationMark) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    private static let quotationMark = UInt8(ascii: "\"")
}

/// The reason that bytes are not a legacy transaction receipt.
package enum LegacyTransactionReceiptError: String, CaseIterable, Error, Hashable, Sendable {
    case tooLarge = "legacy_receipt_too_large"
    case noPurchaseInfo = "legacy_receipt_no_purchase_info"
    case purchaseInfoNotBase64 = "legacy_receipt_purchase_info_not_base64"
    case wrongTransactionID = "legacy_receipt_wrong_transaction_id"
}
