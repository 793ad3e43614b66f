package import AppStoreAPI
package import OfferCore
package import OfferEligibility

/// Everything a request is checked against: keys, catalogue, issuers, callers, limits, proxies and web origins. It is never
/// modified, only replaced.
///
/// A policy is a class because every request retains it. If it were a struct, each of its dozen references would be
/// retained separately.
package final class Policy: Sendable {
    package let ring: KeyRing
    /// The catalogue of offers; nil means that any offer of an app with a key is signed.
    package let catalogue: Catalogue?
    /// The catalogue as configured, without what App Store Connect has.
    package let configured: Catalogue?
    package let issuerIDs: IssuerIDs
    package let callers: Callers
    package let limits: Limits
    package let proxies: TrustedProxies
    /// The origins of web pages that may call the service from a browser.
    package let webOrigins: Set<WebOrigin>
    /// See ``KeyRing/hasKeysWithThreads``.
    package let hasKeysWithThreads: Bool

    package init(
        ring: KeyRing, catalogue: Catalogue? = nil, issuerIDs: IssuerIDs = IssuerIDs(),
        callers: Callers = Callers([]), limits: Limits = Limits(), proxies: TrustedProxies = TrustedProxies(),
        webOrigins: Set<WebOrigin> = []
    ) {
        self.ring = ring
        self.catalogue = catalogue
        configured = catalogue
        self.issuerIDs = issuerIDs
        self.callers = callers
        self.limits = limits
        self.proxies = proxies
        self.webOrigins = webOrigins
        hasKeysWithThreads = ring.hasKeysWithThreads
    }

    private init(_ policy: Policy, ring: KeyRing, catalogue: Catalogue?) {
        self.ring = ring
        hasKeysWithThreads = ring.hasKeysWithThreads
        self.catalogue = catalogue
        configured = policy.configured
        (issuerIDs, callers, limits, proxies) = (policy.issuerIDs, policy.callers, policy.limits, policy.proxies)
        webOrigins = policy.webOrigins
    }

    /// Returns a copy with another key ring.
    func with(_ ring: KeyRing) -> Policy { Policy(self, ring: ring, catalogue: catalogue) }

    /// Returns a copy whose catalogue also knows what App Store Connect has, and nothing of earlier listings.
    func adding(_ listings: [BundleID: AppListing]) -> Policy {
        Policy(self, ring: ring, catalogue: listings.isEmpty ? configured : configured?.adding(listings))
    }

    /// Returns a copy in which the keys that are out of service in `ring` are also out of service.
    package func mergingOutOfService(from ring: KeyRing) -> Policy {
        var merged = self.ring
        merged.mergeOutOfService(from: ring)
        return with(merged)
    }

    /// The keys and issuer IDs for tokens of the App Store Server API.
    package var tokenCredentials: TokenCredentials { TokenCredentials(ring: ring, issuerIDs: issuerIDs) }
}
