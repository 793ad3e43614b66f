/// Who asks, as far as the request has proven it.
package enum Requester: Sendable {
    /// Where nobody has to say who asks.
    case anyone
    case token(Caller)
    /// Somebody who signed in with an identity provider, and the customer that this makes of them.
    case user(of: UserIssuer, customer: Customer)

    package func has(_ scope: Caller.Scope) -> Bool {
        switch self {
        case .anyone: true
        case .token(let caller): caller.scopes.contains(scope)
        // The metrics and the explanations are about everybody.
        case .user: scope == .sign
        }
    }

    /// The apps to sign for; nil for all.
    package var apps: Set<BundleID>? {
        switch self {
        case .anyone: nil
        case .token(let caller): caller.apps
        case .user(let issuer, _): issuer.apps
        }
    }

    /// The only customer to sign for; nil for any.
    package var customer: Customer? {
        switch self {
        case .anyone, .token: nil
        case .user(_, let customer): customer
        }
    }

    /// For the log. Of a user it says where they signed in, not who they are.
    package var name: String {
        switch self {
        case .anyone: "-"
        case .token(let caller): caller.name
        case .user(let issuer, _): "a user of \(issuer.name)"
        }
    }
}
