package import Logging
package import NIOCore
package import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferExplanations
package import OfferHTTP
import OfferTelemetry
import SubscriberSync

/// The rate limiters for addresses, callers, users, customers and explanations.
package final class RequestLimits: Sendable {
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

    /// A client whose explanations are counted together.
    private enum ExplainedTo: Hashable {
        case caller(String)
        case address(IPAddress)
        /// Clients without a token whose address is unknown or this machine's own.
        case others
    }

    private let callers = RateLimiter<String>()
    private let users = RateLimiter<User>()
    private let customers = RateLimiter<CustomerOfApp>()
    private let addresses = RateLimiter<IPAddress>()
    private let notifications = RateLimiter<IPAddress>()
    private let explanations = RateLimiter<ExplainedTo>()
    private let uptime: @Sendable () -> NIODeadline
    private let metrics: ServiceMetrics
    private let warning: ThrottledWarning
    private let proxyWarning: ThrottledWarning

    package init(metrics: ServiceMetrics, log: Logger, uptime: @escaping @Sendable () -> NIODeadline) {
        self.uptime = uptime
        self.metrics = metrics
        warning = ThrottledWarning("rate limit exceeded", log: log)
        proxyWarning = ThrottledWarning(
            "an untrusted proxy hides the clients' addresses, so no address limit applies", log: log)
    }

    /// Counts an unauthenticated request against the address it comes from.
    package func countAddress(of request: HTTPRequest, under policy: Policy) throws(Problem) {
        guard let limit = policy.limits.addresses, let client = limitedClient(of: request, under: policy) else {
            return
        }
        try take(client.subscriber, addresses, limit, .address, "an address", request.context)
    }

    /// Counts a request against the address it comes from, after it was refused for another reason.
    func chargeAddress(of request: HTTPRequest, under policy: Policy) {
        guard let limit = policy.limits.addresses, let client = limitedClient(of: request, under: policy) else {
            return
        }
        _ = addresses.take(client.subscriber, limit: limit, now: uptime())
    }

    /// Refuses a request from an address whose limit is used up. Nothing is counted.
    func requireAddress(of request: HTTPRequest, under policy: Policy) throws(Problem) {
        guard let limit = policy.limits.addresses, let client = limitedClient(of: request, under: policy),
            let wait = addresses.wait(for: client.subscriber, limit: limit, now: uptime())
        else { return }
        throw refusal(after: wait, .address, "an address", request.context)
    }

    /// Refuses a notification, without reading it, if its address has sent too many refused or already known ones.
    /// Nothing is counted.
    func requireNotifier(_ request: HTTPRequest, under policy: Policy) throws(Problem) {
        guard let limit = policy.limits.notifications, let client = limitedClient(of: request, under: policy),
            let wait = notifications.wait(for: client.subscriber, limit: limit, now: uptime())
        else { return }
        throw refusal(after: wait, .notifier, "a sender of notifications", request.context)
    }

    /// Counts a refused or already known notification against the address it comes from.
    func chargeNotifier(_ request: HTTPRequest, under policy: Policy) {
        guard let limit = policy.limits.notifications, let client = limitedClient(of: request, under: policy) else {
            return
        }
        _ = notifications.take(client.subscriber, limit: limit, now: uptime())
    }

    /// Returns the address that a request comes from; nil if it is unknown or not limited.
    private func limitedClient(of request: HTTPRequest, under policy: Policy) -> IPAddress? {
        guard let peer = request.peer else { return nil }
        guard let client = policy.proxies.client(of: peer, forwardedFor: request.forwardedFor) else {
            warnIfMissing(peer, of: request, under: policy)
            return nil
        }
        // A loopback client is one of the team's own programs, unless a trusted proxy forwards its requests.
        return client.isLoopback && request.forwardedFor == nil ? nil : client
    }

    private func warnIfMissing(_ peer: IPAddress, of request: HTTPRequest, under policy: Policy) {
        guard policy.proxies.isMissing(peer, forwardedFor: request.forwardedFor) else { return }
        proxyWarning.warn(
            request.context.metadata([
                "proxy": "\(peer)", "hint": "add the proxy's address to \(Settings.trustedProxies.variable)",
            ]))
    }

    /// Counts a request by an authenticated principal.
    func count(_ principal: Principal, under limits: Limits, _ context: RequestContext) throws(Problem) {
        try take(Count(offers: 1, counted: 0), principal, limits, context)
    }

    /// Counts each offer of a list against the principal. The first offer was counted with the request. If the limit
    /// does not allow all offers, none of the others is counted.
    func countList(
        of count: Int, _ principal: Principal, under limits: Limits, _ context: RequestContext
    ) throws(Problem) {
        try take(Count(offers: count, counted: 1), principal, limits, context)
    }

    /// The number of offers, and the number of those already counted.
    private struct Count {
        let offers: Int
        let counted: Int
    }

    private func take(
        _ count: Count, _ principal: Principal, _ limits: Limits, _ context: RequestContext
    ) throws(Problem) {
        switch principal {
        case .anyone: break
        case .token(let caller):
            guard let limit = limits.tokens else { return }
            try take(caller.name, callers, limit, .caller, "the caller \(caller.name)", context, count)
        case .user(let issuer, let customer):
            guard let limit = limits.users else { return }
            let user = User(issuer: issuer.issuer, customer: customer.utf8)
            try take(user, users, limit, .user, "a user of \(issuer.name)", context, count)
        }
    }

    /// Charges a client for the maximum cost of an explanation, because the actual cost is not known yet. A client
    /// whose limit is used up is refused. ``settleExplanation(of:by:under:verifications:)`` refunds the rest.
    func reserveExplanation(
        of request: HTTPRequest, by principal: Principal, under policy: Policy
    ) throws(Problem) {
        guard let limit = policy.limits.explanations,
            let wait = explanations.reserve(
                explainedTo(request, principal, policy), count: Explainer.maximumVerificationCount, limit: limit,
                now: uptime())
        else { return }
        throw refusal(after: wait, .explanation, "explanations for \(principal.name)", request.context)
    }

    /// Refunds the unused part of an explanation's charge.
    /// - Parameter verifications: the number of verifications that the search made.
    func settleExplanation(
        of request: HTTPRequest, by principal: Principal, under policy: Policy, verifications: Int
    ) {
        guard let limit = policy.limits.explanations else { return }
        explanations.charge(
            explainedTo(request, principal, policy), count: verifications - Explainer.maximumVerificationCount,
            limit: limit, now: uptime())
    }

    private func explainedTo(_ request: HTTPRequest, _ principal: Principal, _ policy: Policy) -> ExplainedTo {
        if case .token(let caller) = principal { return .caller(caller.name) }
        return limitedClient(of: request, under: policy).map { .address($0.subscriber) } ?? .others
    }

    /// Counts a caller's request against the customer that it names.
    /// - Parameter customer: the username or account token to sign. If an app attaches no username, every customer has
    ///   an empty one, so an empty username is not limited.
    func countCustomer(
        _ customer: Customer, of app: BundleID, under limits: Limits, _ context: RequestContext
    ) throws(Problem) {
        guard let limit = limits.customers, !customer.utf8.isEmpty else { return }
        let key = CustomerOfApp(app: app, customer: customer.account.utf8)
        try take(key, customers, limit, .customer, "a customer of \(app.text)", context)
    }

    /// Counts a request against the transaction that its JWS is bound to, because the request could name any customer.
    func countCustomer(
        of transactionID: TransactionID, of app: BundleID, under limits: Limits, _ context: RequestContext
    ) throws(Problem) {
        guard let limit = limits.customers else { return }
        // A NUL prefix keeps transaction IDs apart from usernames, which cannot begin with it.
        let key = CustomerOfApp(app: app, customer: [0] + transactionID.text.utf8)
        try take(key, customers, limit, .customer, "a customer of \(app.text)", context)
    }

    private func take<Key>(
        _ key: Key, _ limiter: RateLimiter<Key>, _ limit: RateLimit, _ party: LimitedParty,
        _ name: @autoclosure () -> String, _ context: RequestContext, _ count: Count = Count(offers: 1, counted: 0)
    ) throws(Problem) {
        guard
            let wait = limiter.take(
                key, count: count.offers, alreadyTaken: count.counted, limit: limit, now: uptime())
        else { return }
        throw refusal(after: wait, party, name(), context)
    }

    private func refusal(
        after wait: TimeAmount, _ party: LimitedParty, _ name: @autoclosure () -> String, _ context: RequestContext
    ) -> Problem {
        metrics.limited(party)
        warning.warn(context.metadata(["who": "\(name())", "hint": "requests above the limit get 429"]))
        return .rateLimited(seconds: Int((wait.nanoseconds + 999_999_999) / 1_000_000_000))
    }
}
