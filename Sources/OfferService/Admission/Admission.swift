import OfferCore
import OfferHTTP

/// A request that has passed the checks every endpoint shares: who makes it, and the policy it is held to until its end.
struct Admission {
    let principal: Principal
    var policy: Policy
    let context: RequestContext
}

/// Whom an endpoint serves.
enum Access: Hashable {
    /// Anyone, without limit.
    case anyone
    /// Anyone, within the rate limit of addresses.
    case anyAddress
    /// Principals with a scope, within their rate limits.
    case scope(Caller.Scope)
}
