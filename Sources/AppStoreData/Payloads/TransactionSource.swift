/// The source of a transaction, which determines how complete it is.
package enum TransactionSource: Hashable, Sendable {
    case jws
    /// An app receipt. It shows a purchase as it was at ``SignedTransaction/signedDate``: later renewals and refunds
    /// are missing, as are members that receipts do not have.
    case receipt
}
