package import AppStoreAPI
package import OfferCore

/// The reason that App Store Connect gave no usable answer.
package enum AppStoreConnectFailure: Error, Sendable {
    /// HTTP status 401: the token is not accepted. A clock error, if there is one, is the likely cause.
    case unauthorised(ClockError?)
    /// HTTP status 403: the account holder has not accepted the current agreement.
    case agreementMissing
    /// HTTP status 403: the role of the key does not permit the request.
    case forbidden
    case notFound
    /// HTTP status 429. The value is the time of the next permitted request.
    case limited(until: Timestamp)
    /// Another HTTP status, such as a gateway's.
    case status(Int)
    /// No complete answer arrived. The value is a clause that states the reason.
    case unreachable(String)
    case timedOut
    /// The answer is not a JSON:API document. The value is a clause that states the reason.
    case unreadable(String)
    case noToken
    /// The account has no app with this bundle ID that the key may read.
    case unknownApp(BundleID)

    /// A stable name for metrics.
    package var name: String {
        switch self {
        case .unauthorised: "unauthorised"
        case .agreementMissing: "agreement_missing"
        case .forbidden: "forbidden"
        case .notFound: "not_found"
        case .limited: "rate_limit_exceeded"
        case .status: "http_status"
        case .unreachable: "unreachable"
        case .timedOut: "timed_out"
        case .unreadable: "unreadable"
        case .noToken: "no_token"
        case .unknownApp: "unknown_app"
        }
    }

    /// True if the same request can succeed after a few seconds.
    var isTemporary: Bool {
        switch self {
        case .status(let status): status >= 500
        case .unreachable, .timedOut: true
        case .unauthorised, .agreementMissing, .forbidden, .notFound, .limited, .unreadable, .noToken, .unknownApp:
            false
        }
    }
}

extension AppStoreConnectFailure {
    /// The failure with what to do about it.
    package var diagnostic: Diagnostic { Diagnostic("App Store Connect: \(self)", hint: hint) }

    private var hint: String {
        switch self {
        case .unauthorised(.some): "set the clock of this machine; tokens are valid for only a short time"
        case .unauthorised:
            "check that the key is one of Users and Access, Integrations, App Store Connect API, that it is not revoked, "
                + "and that the key ID and the issuer ID are the ones shown there; an individual key has no issuer ID"
        case .agreementMissing:
            "the account holder must accept the current agreement at https://developer.apple.com/account"
        case .forbidden: "give the key a greater role; docs/catalogue.md says which one is enough"
        case .limited: "wait; the limit applies per hour, to all programs with the same key"
        case .unreachable, .timedOut, .status: "check the network and Apple's system status page"
        case .noToken: "look for the key in the log, and restart the service"
        case .unknownApp: "check the bundle ID, and that the key may read the app"
        case .notFound, .unreadable: "see docs/catalogue.md"
        }
    }
}

extension AppStoreConnectFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unauthorised(.none): "the token is not accepted (HTTP status 401)"
        case .unauthorised(.some(let clock)): "the token is not accepted (HTTP status 401), and \(clock)"
        case .agreementMissing: "a required agreement is missing or has expired (HTTP status 403)"
        case .forbidden: "the role of the key does not permit the request (HTTP status 403)"
        case .notFound: "there is no such resource (HTTP status 404)"
        case .limited: "the limit for this hour is used up (HTTP status 429)"
        case .status(let status): "the answer has the HTTP status \(status)"
        case .unreachable(let reason): reason
        case .timedOut: "no answer arrived in time"
        case .unreadable(let reason): "the answer cannot be read: \(reason)"
        case .noToken: "the token could not be signed"
        case .unknownApp(let bundleID): "the account has no app \(bundleID.text), or the key may not read it"
        }
    }
}
