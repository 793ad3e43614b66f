import OfferCore
import OfferHTTP

/// A request that has passed the checks shared by all endpoints: its principal, and the policy that applies until it ends.
struct Admission {
    let principal: Principal
    var policy: Policy
    let context: RequestContext
}

/// The access rule of an endpoint.
enum Access: Hashable {
    /// Anyone, without limit.
    case anyone
    /// Anyone, within the rate limit of addresses.
    case anyAddress
    /// Principals with a scope, within their rate limits.
    case scope(Caller.Scope)
}
