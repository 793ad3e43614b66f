package import OfferCore
import OfferEligibility

/// The reason that the App Store Server API gave no usable answer.
package enum APIFailure: Error, Sendable {
    /// The App Store refused the request.
    case refused(APIErrorCode)
    /// HTTP status 401: the App Store does not accept the token. A clock error, if there is one, is the likely cause.
    case unauthorised(ClockError?)
    /// There were too many requests in this hour. The value is the time of the next permitted request.
    case limited(until: Timestamp)
    /// Another HTTP status, without an error code.
    case status(Int)
    /// No complete answer arrived. The value is a clause that states the reason.
    case unreachable(String)
    /// The deadline has passed.
    case timedOut
    /// The answer differs from Apple's documentation.
    case unreadable(AnswerError)
    /// The host has failed repeatedly, so it gets no requests for a while.
    case paused
    /// No token could be created.
    case noToken(TokenFault)
    /// The environment has no server, such as Xcode.
    case noServer
}

extension APIFailure {
    /// A stable name for metrics and programs.
    package var name: String {
        switch self {
        case .refused(let code): code.name
        case .unauthorised: "unauthorised"
        case .limited: "rate_limit_exceeded"
        case .status: "http_status"
        case .unreachable: "unreachable"
        case .timedOut: "timed_out"
        case .unreadable: "unreadable"
        case .paused: "paused"
        case .noToken: "no_token"
        case .noServer: "no_server"
        }
    }

    /// True if the same request can succeed later.
    package var isRetryable: Bool {
        switch self {
        case .refused(let code): code.isRetryable
        case .status(let status): status >= 500
        case .limited, .unreachable, .timedOut, .paused: true
        case .unauthorised, .unreadable, .noToken, .noServer: false
        }
    }

    /// True if the failure shows a problem of the host rather than of the request.
    var isOfHost: Bool {
        switch self {
        case .refused(let code): code.rawValue >= 5_000_000
        case .status(let status): status >= 500
        case .unreachable, .timedOut: true
        case .unauthorised, .limited, .unreadable, .paused, .noToken, .noServer: false
        }
    }
}

extension APIFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let code): "\(code.rawValue) \(code.name): \(code.sentence)"
        case .unauthorised(.none): "the App Store does not accept the token (HTTP status 401)"
        case .unauthorised(.some(let clock)): "the App Store does not accept the token (HTTP status 401), and \(clock)"
        case .limited: "the App Store's limit for this hour is used up"
        case .status(let status): "the App Store answered with HTTP status \(status)"
        case .unreachable(let reason): reason
        case .timedOut: "the App Store did not answer in time"
        case .unreadable(let error): "the answer cannot be read: \(error.reason)"
        case .paused: "the App Store has failed several times, so requests to it are paused briefly"
        case .noToken(let fault): "\(fault)"
        case .noServer: "this environment has no server"
        }
    }

    /// The action for an operator.
    package var hint: String {
        switch self {
        case .unauthorised(.some): "set the clock of this machine; tokens are valid for only a short time"
        case .unauthorised:
            """
            check that the key is an In-App Purchase key, not one for the App Store Connect API; that the issuer ID is the \
            one above the In-App Purchase keys; and that key, issuer and app belong to one team. In production, an app \
            that was never released gets 401 too
            """
        case .noToken(.noIssuerID): "set SUBSCRIPTION_OFFERS_ISSUER_ID"
        case .noToken(.noKey): "choose a key for the app with SUBSCRIPTION_OFFERS_KEY_ID"
        case .noToken(.signing): "look for the key in the log; it may be out of service"
        case .noToken(.notRecorded): "run offer-signer doctor to see what is wrong with the audit trail"
        case .unreachable, .timedOut, .paused:
            "check the network and Apple's system status page; the service tries again"
        case .limited: "wait; the limit applies per hour"
        case .noServer: "use Production or Sandbox"
        case .refused, .status, .unreadable: "see docs/app-store.md"
        }
    }
}
