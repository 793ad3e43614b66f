/// The source of a transaction, which determines how complete it is.
package enum TransactionSource: Hashable, Sendable {
    case jws
    /// An app receipt. It describes a purchase at the time ``SignedTransaction/signedDate``. Later renewals and refunds
    /// are missing, and so are members that receipts do not have.
    case receipt
}
