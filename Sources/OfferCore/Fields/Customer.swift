/// The customer of a purchase, as the app identifies them. This is the fifth field of the payload.
///
/// Apple calls it `applicationUsername` in StoreKit 1 and `appAccountToken` in StoreKit 2. The two are signed
/// differently: a token is a UUID and is signed in lower case, but a username is signed byte for byte.
package enum Customer: Hashable, Sendable {
    /// The value of `SKMutablePayment.applicationUsername`; empty if the app sets no username.
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
    /// The customer's account.
    ///
    /// If a username is a UUID, StoreKit makes it the purchase's `appAccountToken`, so both identify the same account.
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
