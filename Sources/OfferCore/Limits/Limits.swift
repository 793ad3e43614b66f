/// Limits by kind of client; nil means unlimited.
package struct Limits: Hashable, Sendable {
    /// The limit per caller token. It is unlimited by default, because a caller is the team's own backend.
    package var tokens: RateLimit?
    /// The limit per signed-in user. The default lets a paywall of twenty offers appear three times in a row.
    package var users = RateLimit(perSecond: 1, burst: 60)
    /// The limit per customer, for requests that a caller with a token makes on the customer's behalf.
    package var customers: RateLimit?
    /// The limit per ``IPAddress/subscriber`` for requests without a valid token. The default suits a household or
    /// office behind one address.
    package var addresses = RateLimit(perSecond: 50, burst: 500)
    /// The limit on refused and repeated notifications per ``IPAddress/subscriber``. Above the limit, the subscriber's
    /// notifications are refused unread.
    package var notifications = RateLimit(perSecond: 5, burst: 200)
    /// The maximum number of connections per ``IPAddress/subscriber``. The default suits the phones of many customers
    /// behind one address of a mobile network.
    package var connections: Int? = 256
    /// The limit on verifications per principal. An explanation takes up to 300 verifications of about 45 µs each. The
    /// default allows a burst of ten of the costliest explanations. After that, one client can occupy half a percent of
    /// a core.
    package var explanations = RateLimit(perSecond: 100, burst: 3000)
    /// The limit on TLS handshakes per ``IPAddress/subscriber``. A handshake costs as much as dozens of offers.
    package var handshakes = RateLimit(perSecond: 20, burst: 400)

    package init() {}
}
