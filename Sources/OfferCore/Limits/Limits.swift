/// Limits by kind of client; nil means unlimited.
package struct Limits: Hashable, Sendable {
    /// The limit per caller token. Unlimited by default, because a caller is the team's own backend.
    package var tokens: RateLimit?
    /// The limit per signed-in user. The default allows a paywall of twenty offers three times in a row.
    package var users = RateLimit(perSecond: 1, burst: 60)
    /// The limit per customer, for requests that a caller with a token makes on the customer's behalf.
    package var customers: RateLimit?
    /// The limit per ``IPAddress/subscriber`` for requests without a valid token. The default allows for a household or
    /// office behind one address.
    package var addresses = RateLimit(perSecond: 50, burst: 500)
    /// The limit of refused and repeated notifications per ``IPAddress/subscriber``. Above it, its notifications are refused unread.
    package var notifications = RateLimit(perSecond: 5, burst: 200)
    /// The maximum number of connections per ``IPAddress/subscriber``. The default allows for the phones of many customers
    /// behind one address of a mobile network.
    package var connections: Int? = 256
    /// The limit of verifications, of which an explanation takes up to 300, per principal. A verification takes about
    /// 45 µs. The default lets one client occupy half a percent of a core, after ten of the costliest explanations in a row.
    package var explanations = RateLimit(perSecond: 100, burst: 3000)
    /// The limit of TLS handshakes per ``IPAddress/subscriber``. A handshake costs as much as dozens of offers.
    package var handshakes = RateLimit(perSecond: 20, burst: 400)

    package init() {}
}
