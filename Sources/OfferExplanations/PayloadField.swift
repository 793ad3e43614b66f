/// The fields of a V1 payload, in order.
enum PayloadField: Int, CaseIterable, Hashable, Sendable {
    case appBundleID
    case keyID
    case productIdentifier
    case offerID
    /// `applicationUsername` or `appAccountToken`.
    case customer
    case nonce
    case timestamp
}
