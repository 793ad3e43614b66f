package import OfferCore
package import OfferCrypto

/// How notifications are forwarded to the team's own receivers.
package struct ForwardSettings: Sendable {
    /// The key of the signature that each forwarded notification carries; nil to send none.
    package let key: Secret?
    /// The certificates that receivers' certificates may be issued by, beside the system's.
    package let roots: [X509Certificate]

    package init(key: Secret? = nil, roots: [X509Certificate] = []) {
        self.key = key
        self.roots = roots
    }
}
