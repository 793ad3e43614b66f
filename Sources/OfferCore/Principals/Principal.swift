/// The authenticated identity behind a request.
package enum Principal: Sendable {
    /// No authentication is configured.
    case anyone
    case token(Caller)
    /// A user of an identity provider, and the customer derived from their token.
    case user(of: UserIssuer, customer: Customer)

    package func has(_ scope: Caller.Scope) -> Bool {
        switch self {
        case .anyone: true
        case .token(let caller): caller.scopes.contains(scope)
        // The scopes not listed here concern all customers. Two of the listed scopes have endpoints that refuse users
        // with `not_for_users`, which is clearer than a missing scope.
        case .user: [.sign, .introductory, .advancedCommerce].contains(scope)
        }
    }

    /// True if no token identifies the principal.
    package var isAnonymous: Bool { if case .anyone = self { true } else { false } }

    /// The apps that the principal may sign for; nil means all apps.
    package var apps: Set<BundleID>? {
        switch self {
        case .anyone: nil
        case .token(let caller): caller.apps
        case .user(let issuer, _): issuer.apps
        }
    }

    /// The only customer that the principal may sign for; nil means any customer.
    package var customer: Customer? {
        switch self {
        case .anyone, .token: nil
        case .user(_, let customer): customer
        }
    }

    /// True if the usernames in the principal's requests are hashed. It is false for a user, because the issuer's
    /// `hashedUsername` hashes the user's name.
    package var hashesUsernames: Bool { if case .token(let caller) = self { caller.hashesUsernames } else { false } }

    /// The principal's name in the log. For a user, it is the name of the identity provider, not of the person.
    package var name: String {
        switch self {
        case .anyone: "-"
        case .token(let caller): caller.name
        case .user(let issuer, _): "a user of \(issuer.name)"
        }
    }
}
