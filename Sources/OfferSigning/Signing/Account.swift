public import FoundationEssentials
import OfferCore

/// The customer of a purchase, exactly as the app will attach it to the purchase. Any difference makes the signature invalid.
public struct Account: Hashable, Sendable {
    let customer: Customer

    /// The value of StoreKit 2's purchase option `appAccountToken`. It is signed in lower case.
    public static func appAccountToken(_ token: UUID) -> Account {
        guard let text = UUIDText(parsing: Array(token.uuidString.utf8)) else {
            preconditionFailure("a UUID has 32 hexadecimal digits and four hyphens")
        }
        return Account(customer: .appAccountToken(text))
    }

    /// The value of `SKMutablePayment.applicationUsername`, which is signed as given.
    /// - Parameter name: at most 512 bytes of UTF-8, such as a salted hash of the account's ID.
    /// - Throws: ``SigningFailure`` with the code `invalid_field`.
    public static func applicationUsername(_ name: String) throws(SigningFailure) -> Account {
        Account(
            customer: try SigningFailure.checking { () throws(FieldError) in
                try Customer(applicationUsername: Array(name.utf8))
            })
    }

    /// No account: the app attaches neither a token nor a username.
    public static let anonymous: Account = {
        guard let customer = try? Customer(applicationUsername: []) else {
            preconditionFailure("an empty username is valid")
        }
        return Account(customer: customer)
    }()
}
