package import OfferCore

/// An identifier of a customer within an app.
package enum CustomerIdentifier: Hashable, Sendable {
    case appAccountToken(UUIDText)
    /// A username appears in no signed data, so only a link can connect it to purchases. It is never a UUID; see
    /// ``Customer/account``.
    case applicationUsername(FieldText)
    /// An Apple Account within the app.
    case appTransactionID(TransactionID)
    case originalTransactionID(TransactionID)
    case transactionID(TransactionID)

    package init(_ account: Customer) {
        switch account.account {
        case .appAccountToken(let token): self = .appAccountToken(token)
        case .applicationUsername(let name): self = .applicationUsername(name)
        }
    }

    /// The app's account with this identifier; nil for the App Store's identifiers.
    package var account: Customer? {
        switch self {
        case .appAccountToken(let token): .appAccountToken(token)
        case .applicationUsername(let name): .applicationUsername(name)
        case .appTransactionID, .originalTransactionID, .transactionID: nil
        }
    }
}
