import Logging
import NIOConcurrencyHelpers
import OfferCore
import OfferHTTP
import OfferTelemetry

/// A warning about usernames that are e-mail addresses. Apple recommends a one-way hash of the account name, because
/// Apple keeps the value that an app attaches to a purchase.
///
/// Each caller and each identity provider gets one line in the log. The metric counts the requests. Neither contains a
/// username.
final class UsernameWarning: Sendable {
    private let metrics: ServiceMetrics
    private let log: Logger
    /// The names already warned about, one for each caller and identity provider.
    private let known = NIOLockedValueBox<Set<String>>([])

    init(metrics: ServiceMetrics, log: Logger) {
        self.metrics = metrics
        self.log = log
    }

    func check(_ customer: Customer, of principal: Principal, _ context: RequestContext) {
        guard case .applicationUsername(let username) = customer, Self.isAddress(username.utf8) else { return }
        metrics.emailUsernames.increment()
        guard known.withLockedValue({ $0.insert(principal.name).inserted }) else { return }
        let hint =
            if case .user = principal {
                "set hashedUsername for this issuer instead of applicationUsername; apps then attach the value from the response"
            } else {
                "hash it before you send it, or set hashUsernames on the caller; see Usernames in the API documentation"
            }
        log.warning(
            "applicationUsername is an e-mail address; Apple asks for a one-way hash",
            metadata: context.metadata(["caller": "\(principal.name)", "hint": "\(hint)"]))
    }

    /// Returns true if a text has the form of an e-mail address: one @ with text on both sides, and no space.
    static func isAddress(_ utf8: [UInt8]) -> Bool {
        let parts = utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !utf8.contains(UInt8(ascii: " "))
    }
}
