/// Whom the purchase is for: the value that the app attaches to it. Fifth field of the payload.
///
/// Apple calls it `applicationUsername` in StoreKit 1 and `appAccountToken` in StoreKit 2. The two differ in more than
/// name: a token is a UUID and signed in lower case, a username is signed byte for byte.
package enum Customer: Hashable, Sendable {
    /// What the app sets as `SKMutablePayment.applicationUsername`; empty where the app attaches nothing.
    case applicationUsername(FieldText)
    /// What the app passes in the purchase option `appAccountToken`.
    case appAccountToken(UUIDText)

    /// - Parameter utf8: at most 512 bytes, and best a salted hash of the account's identifier, never the identifier.
    package init(applicationUsername utf8: [UInt8]) throws(FieldError) {
        self = .applicationUsername(try FieldText(utf8: utf8, field: "applicationUsername", sizes: 0...512))
    }

    /// - Parameter utf8: a UUID in either case.
    package init(appAccountToken utf8: [UInt8]) throws(FieldError) {
        guard let uuid = UUIDText(parsing: utf8) else { throw FieldError(field: "appAccountToken", reason: .notUUID) }
        self = .appAccountToken(uuid)
    }

    /// The bytes that are signed.
    package var utf8: [UInt8] {
        switch self {
        case .applicationUsername(let text): text.utf8
        case .appAccountToken(let uuid): uuid.utf8
        }
    }
}
