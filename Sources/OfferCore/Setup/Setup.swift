/// Everything that a request is held to. It changes as a whole.
///
/// A class, because each request takes hold of it, and it has a dozen references in it that would each be counted every time.
package final class Setup: Sendable {
    package let ring: KeyRing
    /// nil where any offer of an app that has a key is signed.
    package let catalogue: Catalogue?
    package let issuerIDs: IssuerIDs
    package let callers: Callers
    package let limits: Limits
    package let proxies: TrustedProxies

    package init(
        ring: KeyRing, catalogue: Catalogue? = nil, issuerIDs: IssuerIDs = IssuerIDs(),
        callers: Callers = Callers([]), limits: Limits = Limits(), proxies: TrustedProxies = TrustedProxies()
    ) {
        self.ring = ring
        self.catalogue = catalogue
        self.issuerIDs = issuerIDs
        self.callers = callers
        self.limits = limits
        self.proxies = proxies
    }

    /// The same with another ring.
    func with(_ ring: KeyRing) -> Setup {
        Setup(
            ring: ring, catalogue: catalogue, issuerIDs: issuerIDs, callers: callers, limits: limits, proxies: proxies)
    }

    /// The same, in which those keys sign no more that do not in `ring`.
    package func keepingOutOfService(whatIsOutOfServiceIn ring: KeyRing) -> Setup {
        var kept = self.ring
        kept.keepOutOfService(whatIsOutOfServiceIn: ring)
        return with(kept)
    }
}
