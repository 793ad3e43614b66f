package import OfferCore
package import OfferCrypto

/// The settings for forwarding notifications to the team's own receivers.
package struct ForwardSettings: Sendable {
    /// The key that signs forwarded notifications; nil to forward them without a signature.
    package let key: Secret?
    /// The root certificates to trust for receivers, in addition to the system's.
    package let roots: [X509Certificate]

    package init(key: Secret? = nil, roots: [X509Certificate] = []) {
        self.key = key
        self.roots = roots
    }
}
