package import OfferCore
package import OfferCrypto

/// The settings for forwarding notifications to the team's own receivers.
package struct ForwardSettings: Sendable {
    /// The key of the signature that each forwarded notification carries; nil to send none.
    package let key: Secret?
    /// The root certificates to trust for receivers, beside the system's.
    package let roots: [X509Certificate]

    package init(key: Secret? = nil, roots: [X509Certificate] = []) {
        self.key = key
        self.roots = roots
    }
}
