/// The customer of a purchase, as the app identifies them. Fifth field of the payload.
///
/// Apple calls it `applicationUsername` in StoreKit 1 and `appAccountToken` in StoreKit 2. They are signed differently:
/// a token is a UUID, signed in lower case; a username is signed byte for byte.
package enum Customer: Hashable, Sendable {
    /// The value of `SKMutablePayment.applicationUsername`; empty if the app sets none.
    case applicationUsername(FieldText)
    /// The value of the purchase option `appAccountToken`.
    case appAccountToken(UUIDText)

    /// - Parameter utf8: at most 512 bytes. Apps should pass a salted hash of the account identifier, never the
    ///   identifier itself.
    package init(applicationUsername utf8: [UInt8]) throws(FieldError) {
        self = .applicationUsername(try FieldText(utf8: utf8, field: "applicationUsername", sizes: 0...512))
    }

    /// - Parameter utf8: a UUID in either case.
    package init(appAccountToken utf8: [UInt8]) throws(FieldError) {
        guard let uuid = UUIDText(parsing: utf8) else { throw FieldError(field: "appAccountToken", reason: .notUUID) }
        self = .appAccountToken(uuid)
    }

    /// The signed bytes.
    package var utf8: [UInt8] {
        switch self {
        case .applicationUsername(let text): text.utf8
        case .appAccountToken(let uuid): uuid.utf8
        }
    }
}

extension Customer {
    /// The account that the customer is known by.
    ///
    /// StoreKit makes a username that is a UUID the `appAccountToken` of the purchase, so both are one account.
    package var account: Customer {
        guard case .applicationUsername(let text) = self, let token = UUIDText(parsing: text.utf8) else { return self }
        return .appAccountToken(token)
    }

    package var token: UUIDText? {
        if case .appAccountToken(let token) = self { token } else { nil }
    }

    package var username: FieldText? {
        if case .applicationUsername(let text) = self { text } else { nil }
    }
}
