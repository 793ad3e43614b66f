import OfferCore
import OfferHTTP

/// A request that has passed the checks shared by all endpoints, with its principal and the policy that applies to it.
struct Admission {
    let principal: Principal
    var policy: Policy
    let context: RequestContext
    /// The client's address for the audit trail; nil if it is unknown or not recorded.
    var address: IPAddress?
}

/// The access rule of an endpoint.
enum Access: Hashable {
    /// Anyone, without a rate limit.
    case anyone
    /// Anyone, within the rate limit for addresses.
    case anyAddress
    /// Principals that have the scope, within their rate limits.
    case scope(Caller.Scope)
}
