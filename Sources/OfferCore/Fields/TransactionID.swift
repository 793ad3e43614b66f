/// The transaction ID that ties a JWS to one customer of the app.
///
/// It can be the ID of any of the customer's transactions, an original transaction ID, or `appTransactionID`, which
/// exists even without a purchase. Its name is `transactionID` on the wire and `transactionId` in the JWS. Apple's
/// examples consist of digits, but Apple does not promise that form, so this type accepts 1 to 64 bytes.
package struct TransactionID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "transactionID") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...64)
    }
}
