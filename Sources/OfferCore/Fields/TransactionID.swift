/// Ties a JWS to one customer of the app: the ID of any transaction of theirs, the original one's, or the app
/// transaction's, which also those have who never bought anything.
///
/// On the wire it is `transactionID`, in the JWS `transactionId`. Apple shows digits, but promises no form, so this
/// takes 1 to 64 bytes.
package struct TransactionID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "transactionID") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...64)
    }
}
