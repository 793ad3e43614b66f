/// How often who may ask; nil for as often as they like.
package struct Limits: Hashable, Sendable {
    /// A caller with a token. It is the team's own backend, and knows best how many customers it has.
    package var tokens: RateLimit?
    /// A signed-in user: a paywall of twenty offers, three times in a row.
    package var users = RateLimit(perSecond: 1, burst: 60)
    /// A customer that a caller with a token asks for.
    package var customers: RateLimit?
    /// An address, or what shares the first 64 bits with it in IPv6, for requests without a good token: a household or an
    /// office behind one address.
    package var addresses = RateLimit(perSecond: 50, burst: 500)

    package init() {}
}
