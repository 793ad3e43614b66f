public import Foundation

/// The identifier that the app attaches to the customer's purchases.
///
/// A signature covers this identifier, so the purchase must carry exactly the same value. The client attaches it.
public struct OfferCustomer: Hashable, Sendable {
    enum Identifier: Hashable, Sendable {
        case appAccountToken(UUID)
        case applicationUsername(String)
        case signedInUser
    }

    let identifier: Identifier

    /// A customer of StoreKit 2, by the UUID of the purchase option `appAccountToken`.
    public static func appAccountToken(_ token: UUID) -> OfferCustomer {
        OfferCustomer(identifier: .appAccountToken(token))
    }

    /// A customer of StoreKit 1, by `SKMutablePayment.applicationUsername`. It is signed byte for byte.
    public static func applicationUsername(_ name: String) -> OfferCustomer {
        OfferCustomer(identifier: .applicationUsername(name))
    }

    /// A customer to whose purchases the app attaches nothing. Only proofs tell the service who it is.
    public static let anonymous = applicationUsername("")

    /// The customer whom the bearer token of the requests identifies. The service names the identifier in its answers.
    public static let signedInUser = OfferCustomer(identifier: .signedInUser)

    /// The value of the request member `appAccountToken`, in lower case as it is signed.
    var appAccountToken: String? {
        guard case .appAccountToken(let token) = identifier else { return nil }
        return token.uuidString.lowercased()
    }

    /// The value of the request member `applicationUsername`.
    var applicationUsername: String? {
        guard case .applicationUsername(let name) = identifier else { return nil }
        return name
    }
}
