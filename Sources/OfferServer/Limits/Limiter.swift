package import Logging
package import NIOCore
import OfferCore

/// Holds everybody who asks to the limits in force.
package final class Limiter: Sendable {
    private struct User: Hashable {
        let issuer: [UInt8]
        let customer: [UInt8]
    }

    private struct CustomerOfApp: Hashable {
        let app: BundleID
        let customer: [UInt8]

        func hash(into hasher: inout Hasher) {
            hasher.combine(app)
            hasher.combine(text: customer)
        }
    }

    private let tokens = RateLimiter<String>()
    private let users = RateLimiter<User>()
    private let customers = RateLimiter<CustomerOfApp>()
    private let addresses = RateLimiter<IPAddress>()
    private let now: @Sendable () -> NIODeadline
    private let metrics: ServiceMetrics
    private let warning: OccasionalWarning

    package init(
        metrics: ServiceMetrics, log: Logger, now: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        self.now = now
        self.metrics = metrics
        warning = OccasionalWarning("somebody asks more often than their limit, and gets 429", log: log)
    }

    /// For a request that nobody has vouched for: anybody can send it, so it counts against where it comes from.
    func admitAddress(of request: IncomingRequest, under setup: Setup) throws(Problem) {
        guard let limit = setup.limits.addresses, let peer = request.peer,
            let client = setup.proxies.client(of: peer, forwardedFor: request.forwardedFor),
            // The team's own programs are here; a proxy beside us that does not say whom it asks for is none of them.
            !client.isLoopback || request.forwardedFor != nil
        else { return }
        try take(client.subscriber, addresses, limit, .address, "an address", request.context)
    }

    /// For a requester who has proven who they are.
    /// - Parameter context: of the request, for the log.
    func admit(_ requester: Requester, under limits: Limits, _ context: RequestContext) throws(Problem) {
        switch requester {
        case .anyone: break
        case .token(let caller):
            guard let limit = limits.tokens else { return }
            try take(caller.name, tokens, limit, .caller, "the caller \(caller.name)", context)
        case .user(let issuer, let customer):
            guard let limit = limits.users else { return }
            let user = User(issuer: issuer.issuer, customer: customer.utf8)
            try take(user, users, limit, .user, "a user of \(issuer.name)", context)
        }
    }

    /// For the customer that somebody else asks for. A user asks for nobody else.
    func admit(
        _ offer: OfferRequest, from requester: Requester, under limits: Limits, _ context: RequestContext
    ) throws(Problem) {
        guard requester.customer == nil else { return }
        // An empty username is everybody's whose app attaches none.
        if let limit = limits.customers, !offer.customer.utf8.isEmpty {
            let key = CustomerOfApp(app: offer.appBundleID, customer: offer.customer.utf8)
            try take(key, customers, limit, .customer, "a customer of \(offer.appBundleID.text)", context)
        }
        if let transactionID = offer.transactionID {
            try admit(transactionID, of: offer.appBundleID, under: limits, context)
        }
    }

    /// For the customer whose transaction a JWS is tied to: the name in the request may be any.
    func admit(
        _ transactionID: TransactionID, of app: BundleID, under limits: Limits, _ context: RequestContext
    ) throws(Problem) {
        guard let limit = limits.customers else { return }
        // No username begins with NUL.
        let key = CustomerOfApp(app: app, customer: [0] + transactionID.text.utf8)
        try take(key, customers, limit, .customer, "a customer of \(app.text)", context)
    }

    private func take<Key>(
        _ key: Key, _ limiter: RateLimiter<Key>, _ limit: RateLimit, _ party: LimitedParty,
        _ name: @autoclosure () -> String, _ context: RequestContext
    ) throws(Problem) {
        guard let wait = limiter.take(key, limit: limit, now: now()) else { return }
        metrics.limited(party)
        warning.warn(context.metadata(["who": "\(name())"]))
        throw .rateLimited(seconds: Int((wait.nanoseconds + 999_999_999) / 1_000_000_000))
    }
}
