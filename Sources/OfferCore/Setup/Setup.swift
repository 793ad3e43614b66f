/// Everything that a request is held to. It changes as a whole.
package struct Setup: Sendable {
    package var ring: KeyRing
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
}
