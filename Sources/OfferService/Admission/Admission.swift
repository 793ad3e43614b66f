import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

/// A request that has passed the checks shared by all endpoints, with its principal and the policy that applies to it.
struct Admission {
    let principal: Principal
    var policy: Policy
    let context: RequestContext
    /// True if the request names a host that the listener does not serve. Health checks still answer it, but without
    /// details.
    var isMisdirected = false
    /// The client's address for the audit trail; nil if it is unknown or not recorded.
    var address: IPAddress?
    /// The claim of the request's `Idempotency-Key`; nil if it has none.
    var claim: Claim?
    /// The time by which the threads of keys must have made the request's signatures; nil before the first.
    var signingDeadline: ContinuousClock.Instant?
    /// True if the request waits for threads of keys in a lane that only such requests have.
    var hasOwnLane = false

    /// A claim and its place, which decides whether anything can be reserved under it.
    enum Claim: Sendable {
        case inStore(IdempotentRequest.Claim)
        case inMemory(IdempotentRequest.Claim)
    }

    /// The claim under which signatures are reserved; nil if the request has no key.
    func claimOfReservations() throws(Problem) -> IdempotentRequest.Claim? {
        switch claim {
        case nil: nil
        case .inStore(let claim)?: claim
        // Without the database, a repeated request could reserve twice.
        case .inMemory?: throw .storeUnavailable
        }
    }

    /// Returns true if the principal may make requests about an app.
    func mayUse(_ app: BundleID) -> Bool { principal.apps?.contains(app) ?? true }

    /// Returns an app of the catalogue that the principal may make requests about.
    func app(_ bundleID: BundleID) throws(Problem) -> Catalogue.App {
        guard mayUse(bundleID) else { throw .appNotServed(because: "the caller may not access this app") }
        guard let app = policy.catalogue?.apps[bundleID] else {
            throw .appNotServed(because: "the app is not in the configuration file")
        }
        return app
    }
}

extension Principal {
    /// True if the principal sees the details behind the reasons for a refusal, and not only their codes. An app does
    /// not, because its customers could read the details.
    var showsDetails: Bool { has(.customers) }
}

/// The hosts that a listener serves.
enum HostRule {
    /// All hosts, for a listener that other machines can reach or that serves only notifications.
    case any
    /// Only this machine, unless callers are configured. Requests then need a token, which web pages do not know.
    case thisMachineWithoutCallers
    /// Only this machine. The listener requires no token, even if callers are configured.
    case thisMachine
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
